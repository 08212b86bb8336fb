import type { App } from '@slack/bolt';
import type { BotContext } from '../context.ts';
import { listenToActions } from './actions.ts';
import { listenToCommands } from './commands.ts';
import { listenToConnections } from './connections.ts';
import { listenToFeedback } from './feedback.ts';
import { listenToHome } from './home.ts';
import { listenToMessages } from './messages.ts';
import { listenToRevisions } from './revisions.ts';
import { listenToShortcuts } from './shortcuts.ts';
import { listenToSubmissions } from './submissions.ts';

/** Registers all listeners. They only translate between Slack and the handlers. */
export function listen(app: App, context: BotContext): void {
  listenToMessages(app, context);
  listenToRevisions(app, context);
  listenToActions(app, context);
  listenToSubmissions(app, context);
  listenToHome(app, context);
  listenToCommands(app, context);
  listenToShortcuts(app, context);
  listenToConnections(app, context);
  listenToFeedback(app, context);
}
