import type { BlockAction } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import { judgeSlackFailure } from '../slack/slack-failure.ts';

const ClickedMessage = z.object({
  container: z.object({
    type: z.literal('message'),
    channel_id: z.string(),
    thread_ts: z.string().optional(),
  }),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
});

/** A click, with the means to reply to its person. */
export interface ReplyTarget {
  readonly client: WebClient;
  readonly body: Pick<BlockAction, 'user' | 'container' | 'message' | 'view'>;
  readonly logger: Logger;
}

/**
 * Sends one sentence to one person: where they clicked a message, visible only to them, otherwise in their direct messages. Slack shows
 * an ephemeral message in a thread only if the call names the thread. Where Slack refuses it, the sentence goes to the direct messages.
 */
export async function tellPrivately({ client, body, logger }: ReplyTarget, text: string): Promise<void> {
  const { user, view } = body;
  const clicked = view === undefined ? ClickedMessage.safeParse(body).data : undefined;
  if (clicked !== undefined) {
    const { channel_id: channel, thread_ts = clicked.message?.thread_ts } = clicked.container;
    try {
      await client.chat.postEphemeral({
        channel,
        user: user.id,
        text,
        ...(thread_ts !== undefined && { thread_ts }),
      });
      return;
    } catch (error) {
      const { reason } = judgeSlackFailure(error);
      logger.debug({ user: user.id, channel, reason }, 'notice sent directly instead');
    }
  }
  await client.chat.postMessage({ channel: user.id, text });
}
