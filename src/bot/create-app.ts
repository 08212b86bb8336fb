import { App, LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';
import { toBoltLogger } from './bolt-logger.ts';

export interface SlackSettings {
  readonly botToken: string;
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
}

/** Makes the Bolt app; nothing is connected before `start`. */
export function createApp(slack: SlackSettings, logger: Logger): App {
  return new App({
    token: slack.botToken,
    appToken: slack.appToken,
    socketMode: true,
    logger: toBoltLogger(logger),
    logLevel: LogLevel.INFO,
    clientOptions: {
      ...(slack.apiUrl !== undefined && { slackApiUrl: slack.apiUrl }),
      // The client has no time-out of its own, and retries are the outbox's.
      timeout: 10_000,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    },
  });
}
