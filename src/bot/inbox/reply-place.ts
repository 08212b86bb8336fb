import type { BlockAction } from '@slack/bolt';
import { z } from 'zod';
import type { PrivatePlace } from '../outbox/private-notice.ts';

const ClickedMessage = z.object({
  container: z.object({
    type: z.literal('message'),
    channel_id: z.string(),
    thread_ts: z.string().optional(),
  }),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
});

/** Finds the place for the private reply to a click: where the message is, or the direct messages after a click in a view. */
export function replyPlace(body: Pick<BlockAction, 'user' | 'container' | 'message' | 'view'>): PrivatePlace {
  const user = body.user.id;
  const clicked = body.view === undefined ? ClickedMessage.safeParse(body).data : undefined;
  if (clicked === undefined) return { user };
  const { channel_id: channel, thread_ts: threadTs = clicked.message?.thread_ts } = clicked.container;
  return { user, channel, threadTs };
}
