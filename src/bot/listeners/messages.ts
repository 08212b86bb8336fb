import type { App } from '@slack/bolt';
import type { Store } from '../../store/port.ts';
import { type SlackThread, threadIdOf } from '../thread.ts';

/** Puts what people say to the bot into the thread's inbox: mentions in channels, and everything in a direct message. */
export function listenToMessages(app: App, store: Store): void {
  app.event('app_mention', async ({ event, context }) => {
    // Slack sends an edited mention as a new one.
    if (event.user === undefined || 'edited' in event) return;
    const text = event.text.replaceAll(`<@${context.botUserId}>`, '').trim();
    await take(
      store,
      { channel: event.channel, threadTs: event.thread_ts ?? event.ts },
      event.ts,
      event.user,
      text,
    );
  });

  app.event('message', async ({ event }) => {
    if (event.channel_type !== 'im' || event.subtype !== undefined || event.bot_id !== undefined) return;
    if (event.text === undefined) return;
    const thread = { channel: event.channel, threadTs: event.thread_ts ?? event.ts };
    await take(store, thread, event.ts, event.user, event.text);
  });
}

/** The message's own ts is the item's id, so that the same message arriving as two events is read once. */
async function take(
  store: Store,
  thread: SlackThread,
  ts: string,
  user: string,
  text: string,
): Promise<void> {
  await store.put(threadIdOf(thread), { id: ts, body: { user, text } });
}
