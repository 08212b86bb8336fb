import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { ClaimedTurn } from '../../store/port/values.ts';
import { parseThreadId, type SlackThread } from './thread.ts';

const QUEUED_REACTION = 'eyes';

interface Context {
  readonly client: WebClient;
  readonly logger: Logger;
}

/** Marks a message that is read later with a reaction. */
export async function markQueued(
  { client, logger }: Context,
  { channel }: SlackThread,
  ts: string,
): Promise<void> {
  try {
    await client.reactions.add({ channel, timestamp: ts, name: QUEUED_REACTION });
  } catch (err) {
    logger.debug({ channel, ts, err }, 'queued message not marked');
  }
}

/** Removes the marks of the messages that a turn has read. */
export async function unmarkQueued(
  { client, logger }: Context,
  { threadId, inbox }: ClaimedTurn,
): Promise<void> {
  const { channel } = parseThreadId(threadId);
  for (const { id: timestamp, body } of inbox) {
    if (body.queued !== true) continue;
    try {
      await client.reactions.remove({ channel, timestamp, name: QUEUED_REACTION });
    } catch (err) {
      logger.debug({ channel, ts: timestamp, err }, 'mark of a queued message not removed');
    }
  }
}
