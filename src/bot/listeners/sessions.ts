import type { App } from '@slack/bolt';
import type { BotParts } from '../bot-parts.ts';
import { stopThread } from '../stop-thread.ts';
import { threadIdOf } from '../thread.ts';

/** Slack's agent surface: Stop. The prompts that it suggests stand in the manifest. */
export function listenToSessions(app: App, parts: BotParts): void {
  app.event('agent_session_stopped', async ({ event }) => {
    await stopThread(parts, threadIdOf({ channel: event.channel, threadTs: event.thread_ts }), event.user);
  });
}
