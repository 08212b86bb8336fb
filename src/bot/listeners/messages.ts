import type { App } from '@slack/bolt';
import type { BotParts } from '../bot-parts.ts';
import { hear } from '../hear.ts';

/** Turns what people say into items for a thread's inbox; what other bots say and what is edited starts nothing. */
export function listenToMessages(app: App, parts: BotParts): void {
  app.event('app_mention', async ({ event, context }) => {
    // Slack sends an edited mention as a new one.
    if (event.user === undefined || event.bot_id !== undefined || 'edited' in event) return;
    const thread = { channel: event.channel, threadTs: event.thread_ts ?? event.ts };
    await hear(
      parts,
      { thread, ts: event.ts, user: event.user, text: event.text, toBot: true },
      context.botUserId,
    );
  });

  app.event('message', async ({ event, context }) => {
    // With a file, or shown in the channel as well, it is still something that a person says.
    const isSpoken =
      event.subtype === undefined || event.subtype === 'file_share' || event.subtype === 'thread_broadcast';
    if (!isSpoken || 'bot_id' in event || event.text === undefined) return;
    const isDirect = event.channel_type === 'im';
    const mentioned = event.text.includes(`<@${context.botUserId}>`);
    // In a channel only replies are for us, and only in threads that we take part in.
    if (!isDirect && !mentioned && event.thread_ts === undefined) return;
    const thread = { channel: event.channel, threadTs: event.thread_ts ?? event.ts };
    const { ts, user, text } = event;
    await hear(parts, { thread, ts, user, text, toBot: isDirect || mentioned }, context.botUserId);
  });
}
