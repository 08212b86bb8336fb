import type { App } from '@slack/bolt';
import type { BotParts } from './bot-parts.ts';
import { listenToActions } from './listeners/actions.ts';
import { listenToHome } from './listeners/home.ts';
import { listenToMessages } from './listeners/messages.ts';
import { listenToSessions } from './listeners/sessions.ts';
import { listenToSubmissions } from './listeners/submissions.ts';

/** Everything that the bot hears from Slack; listeners only translate. */
export function listen(app: App, parts: BotParts): void {
  listenToMessages(app, parts);
  listenToSessions(app, parts);
  listenToActions(app, parts);
  listenToSubmissions(app, parts);
  listenToHome(app, parts);
}
