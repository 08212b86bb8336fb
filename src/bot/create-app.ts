import { App, LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Store } from '../store/port.ts';
import { toBoltLogger } from './bolt-logger.ts';
import { listenToAnswers } from './listeners/answers.ts';
import { listenToMessages } from './listeners/messages.ts';

export interface SlackSettings {
  readonly botToken: string;
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
}

/** Makes the Bolt app and its listeners, which only translate; nothing is connected before `start`. */
export function createApp(slack: SlackSettings, store: Store, logger: Logger): App {
  const app = new App({
    token: slack.botToken,
    appToken: slack.appToken,
    socketMode: true,
    logger: toBoltLogger(logger),
    logLevel: LogLevel.INFO,
    // The client has no time-out of its own.
    clientOptions: { ...(slack.apiUrl !== undefined && { slackApiUrl: slack.apiUrl }), timeout: 10_000 },
  });
  listenToMessages(app, store);
  listenToAnswers(app, store);
  return app;
}
