import type { App } from '@slack/bolt';
import type { BotParts } from '../bot-parts.ts';
import { stopThread } from '../stop-thread.ts';
import { threadIdOf } from '../thread.ts';

const PROMPTS = [
  { title: 'Look up an order', message: 'What was bought with order A-1001?' },
  { title: 'Refund an order', message: 'Refund 20 dollars of order A-1001, the lamp came late.' },
  { title: 'Deploy a service', message: 'Deploy checkout 2.4.1 to production.' },
];

/** Slack's agent surface: prompts where a conversation begins, and Stop. */
export function listenToSessions(app: App, parts: BotParts): void {
  app.event('agent_session_stopped', async ({ event }) => {
    await stopThread(parts, threadIdOf({ channel: event.channel, threadTs: event.thread_ts }), event.user);
  });

  app.event('assistant_thread_started', async ({ event, client }) => {
    const { channel_id, thread_ts } = event.assistant_thread;
    await client.assistant.threads.setSuggestedPrompts({ channel_id, thread_ts, prompts: PROMPTS });
  });
}
