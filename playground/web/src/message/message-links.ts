import type { MessageEntity } from '../../../protocol.ts';
import type { Screen } from '../navigation/routes.ts';

/** The place that points at a message: the main line, or the thread that it is a reply of. */
export function screenOfMessage({ channel, ts, threadTs }: MessageEntity): Screen {
  const isReply = threadTs !== undefined && threadTs !== ts;
  return { kind: 'channel', channel, messageTs: ts, ...(isReply && { threadTs }) };
}

/** The path of a message in the form of Slack's own permalinks, which opens as whoever follows it. */
export function permalinkOf({ channel, ts, threadTs }: MessageEntity): string {
  const path = `/archives/${channel}/p${ts.replace('.', '')}`;
  const isReply = threadTs !== undefined && threadTs !== ts;
  return isReply ? `${path}?thread_ts=${threadTs}&cid=${channel}` : path;
}
