import type { App, BlockButtonAction } from '@slack/bolt';
import { z } from 'zod';
import { isAskingBot } from '../../engine/asks/may-ask.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import { readSlackFiles } from '../slack/file-host.ts';
import { threadIdOf } from '../slack/thread.ts';
import * as ids from '../views/cards/action-ids.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { receiveMessage } from './receive-message.ts';
import { replyPlace } from './reply-place.ts';
import { receiveRevision, redoEdited, startAgain } from './revise-message.ts';
import { stopAndTell } from './stop-thread.ts';

/** Turns messages of people into inbox items, and Slack's Stop into a stop. Messages of bots that may not ask are ignored. */
export function listenToMessages(app: App, botContext: BotContext): void {
  const mayBotAsk = (botId: string, user: string, ownUser: string | undefined): boolean =>
    user !== ownUser && isAskingBot(botContext.agent().askers, [botId, user]);

  app.event('app_mention', async ({ event, context }) => {
    // Slack sends an edited mention as a new one.
    if (event.user === undefined || 'edited' in event) return;
    if (event.bot_id !== undefined && !mayBotAsk(event.bot_id, event.user, context.botUserId)) return;
    const thread = { channel: event.channel, threadTs: event.thread_ts ?? event.ts };
    await receiveMessage(
      botContext,
      {
        thread,
        ts: event.ts,
        user: event.user,
        text: event.text,
        toBot: true,
        mention: true,
        files: readSlackFiles(event.files),
      },
      context.botUserId,
    );
  });

  app.event('message', async ({ event, context }) => {
    // A message with a file, or also sent to the channel, is still a message of a person.
    const isWritten =
      event.subtype === undefined || event.subtype === 'file_share' || event.subtype === 'thread_broadcast';
    if (!isWritten || event.text === undefined) return;
    const botId = 'bot_id' in event ? event.bot_id : undefined;
    if (botId !== undefined && !mayBotAsk(botId, event.user, context.botUserId)) return;
    const isDirect = event.channel_type === 'im';
    const mentioned = event.text.includes(`<@${context.botUserId}>`);
    // In a channel only replies are for the bot, and only in threads that it takes part in.
    if (!isDirect && !mentioned && event.thread_ts === undefined) return;
    const thread = { channel: event.channel, threadTs: event.thread_ts ?? event.ts };
    const { ts, user, text } = event;
    await receiveMessage(
      botContext,
      {
        thread,
        ts,
        user,
        text,
        toBot: isDirect || mentioned,
        mention: mentioned && !isDirect,
        files: readSlackFiles('files' in event ? event.files : undefined),
      },
      context.botUserId,
    );
  });

  app.event('agent_session_stopped', async ({ event }) => {
    const threadId = threadIdOf({ channel: event.channel, threadTs: event.thread_ts });
    await stopAndTell(botContext, threadId, event.user);
  });
}

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

  app.action<BlockButtonAction>(ids.START_AGAIN, async ({ ack, action, body, respond }) => {
    const text = await startAgain(botContext, action.value ?? '', body.user.id);
    await ack();
    await respond({ replace_original: true, text });
  });
}
