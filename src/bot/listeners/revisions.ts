import type { App, BlockButtonAction } from '@slack/bolt';
import { z } from 'zod';
import * as ids from '../cards/action-ids.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { noticeTexts } from '../texts/notices.ts';
import { receiveRevision, redoEdited } from '../turns/revise-message.ts';
import { replyPlace } from './reply-place.ts';

const Revised = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  user: z.string(),
  bot_id: z.undefined().optional(),
  subtype: z.string().optional(),
  text: z.string(),
});
const Changed = z.object({
  subtype: z.literal('message_changed'),
  channel: z.string(),
  event_ts: z.string(),
  message: Revised,
  previous_message: Revised.partial().optional(),
});
const Deleted = z.object({
  subtype: z.literal('message_deleted'),
  channel: z.string(),
  event_ts: z.string(),
  previous_message: Revised,
});

/** Follows the edits and deletions of people's messages; those of bots are ignored. */
export function listenToRevisions(app: App, botContext: BotContext): void {
  app.event('message', async ({ event, context }) => {
    const { data } = z.union([Changed, Deleted]).safeParse(event);
    if (data === undefined) return;
    const revised = data.subtype === 'message_changed' ? data.message : data.previous_message;
    // Slack also sends a change when it adds a preview of a link.
    if (data.subtype === 'message_changed' && data.previous_message?.text === revised.text) return;
    // A deleted message with replies becomes a tombstone.
    const isDeleted = data.subtype === 'message_deleted' || revised.subtype === 'tombstone';
    const user = revised.subtype === 'tombstone' ? data.previous_message?.user : revised.user;
    if (user === undefined || user === context.botUserId || user === 'USLACKBOT') return;
    await receiveRevision(
      botContext,
      {
        thread: { channel: data.channel, threadTs: revised.thread_ts ?? revised.ts },
        ts: revised.ts,
        user,
        text: isDeleted ? undefined : revised.text,
        revisedAt: data.event_ts,
      },
      context.botUserId,
    );
  });

  app.action<BlockButtonAction>(ids.REDO, async ({ ack, action, body, respond }) => {
    const problem = await redoEdited(botContext, action.value ?? '', body.user.id);
    await ack();
    if (problem === undefined) await respond({ replace_original: true, text: noticeTexts.redone });
    else await tellPrivately(botContext, replyPlace(body), problem);
  });
}
