import type { MessageEntity } from '../../../protocol.ts';
import type { Screen } from '../navigation/routes.ts';

/** Returns the screen that highlights a message, in the main timeline or in its thread. */
export function screenOfMessage({ channel, ts, threadTs }: MessageEntity): Screen {
  const isReply = threadTs !== undefined && threadTs !== ts;
  return { kind: 'channel', channel, messageTs: ts, ...(isReply && { threadTs }) };
}

/** Returns a message's path in the form of Slack's permalinks; it opens as the current person. */
export function permalinkOf({ channel, ts, threadTs }: MessageEntity): string {
  const path = `/archives/${channel}/p${ts.replace('.', '')}`;
  const isReply = threadTs !== undefined && threadTs !== ts;
  return isReply ? `${path}?thread_ts=${threadTs}&cid=${channel}` : path;
}
