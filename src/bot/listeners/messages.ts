import type { App } from '@slack/bolt';
import type { BotContext } from '../context.ts';
import { readSlackFiles } from '../files/slack-file.ts';
import { isAskingBot } from '../intake/may-ask.ts';
import { threadIdOf } from '../slack/thread.ts';
import { receiveMessage } from '../turns/receive-message.ts';
import { stopAndTell } from '../turns/stop-thread.ts';

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
