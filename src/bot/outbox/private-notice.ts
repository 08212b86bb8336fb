import { randomUUID } from 'node:crypto';
import type { KnownBlock } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { BotContext } from '../context.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';

/** The place of a private sentence: a channel or a thread in which only the person sees it, or their direct messages. */
export const PrivatePlace = z.object({
  user: z.string(),
  channel: z.string().optional(),
  threadTs: z.string().optional(),
});
export type PrivatePlace = Readonly<z.infer<typeof PrivatePlace>>;

/** A private message with more than a sentence. */
interface PrivateContent {
  readonly text: string;
  readonly blocks?: KnownBlock[];
}

/** Answers a click through its `response_url`; not every click has one. */
type Respond = (message: {
  response_type: 'ephemeral';
  replace_original: false;
  text: string;
}) => Promise<unknown>;

/**
 * Sends one sentence to one person. Slack shows an ephemeral message in a thread only if the call names the thread. Where Slack refuses
 * it, the sentence is the response to the click, or goes to the direct messages; throws if Slack cannot be reached.
 */
export async function sendPrivately(
  client: WebClient,
  { user, channel, threadTs }: PrivatePlace,
  content: string | PrivateContent,
  respond?: Respond,
): Promise<void> {
  const message = typeof content === 'string' ? { text: content } : content;
  if (channel !== undefined) {
    try {
      await client.chat.postEphemeral({
        channel,
        user,
        ...message,
        ...(threadTs !== undefined && { thread_ts: threadTs }),
      });
      return;
    } catch (error) {
      if (judgeSlackFailure(error).kind === 'later') throw error;
    }
  }
  if (respond !== undefined) {
    await respond({ response_type: 'ephemeral', replace_original: false, text: message.text });
    return;
  }
  await client.chat.postMessage({ channel: user, ...message });
}

/** Sends one sentence to one person now, or from the outbox if Slack cannot be reached now. */
export async function tellPrivately(
  { client, store, logger }: Pick<BotContext, 'client' | 'store' | 'logger'>,
  place: PrivatePlace,
  text: string,
  respond?: Respond,
): Promise<void> {
  try {
    await sendPrivately(client, place, text, respond);
  } catch (err) {
    logger.debug({ user: place.user, err }, 'notice sent later');
    const { user, channel, threadTs } = place;
    await store.enqueueOutbox(threadIdOf({ channel: channel ?? user, threadTs: threadTs ?? '' }), {
      id: `notice/${randomUUID()}`,
      body: {
        kind: 'private',
        user,
        text,
        ...(channel !== undefined && { channel }),
        ...(threadTs !== undefined && { threadTs }),
      },
    });
  }
}
