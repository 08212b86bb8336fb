import { App, LogLevel, type Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { toBoltLogger } from '../bolt-logger.ts';
import type { HttpAnswer } from './http-answer.ts';
import { HttpReceiver, type Once, type SlackRequest } from './http-receiver.ts';
import { SocketReceiver } from './socket-receiver.ts';

/** How the bot reaches Slack and is reached: by sockets that it opens, or by requests that Slack signs. */
export type ConnectionSettings = { readonly botToken: string; readonly apiUrl?: string | undefined } & (
  | { readonly mode: 'socket'; readonly appToken: string }
  | { readonly mode: 'http'; readonly signingSecret: string }
);

export interface ConnectionDependencies {
  readonly logger: Logger;
  /** Remembers, for all processes of the bot, which requests were taken. */
  readonly once: Once;
}

/** The bot's connection to Slack, with the app that listens on it. */
export interface Connection {
  readonly app: App;
  /** What Slack posts goes here; nothing with sockets. */
  readonly receive: ((request: SlackRequest) => Promise<HttpAnswer>) | undefined;
  start(): Promise<void>;
  /** Lets what runs come to its end, and takes nothing more. */
  stop(): Promise<void>;
  isReady(): boolean;
}

/** Makes the connection and its app; nothing is opened before `start`, and nothing is heard before Slack knows the bot. */
export function createConnection(
  settings: ConnectionSettings,
  { logger, once }: ConnectionDependencies,
): Connection {
  const log = logger.child({ part: 'slack' });
  const slackLogger = toBoltLogger(logger);
  if (settings.mode === 'http') {
    const receiver = new HttpReceiver({ signingSecret: settings.signingSecret, once, logger: log });
    return connect(settings, receiver, logger, (request) => receiver.receive(request));
  }
  const { appToken, apiUrl } = settings;
  return connect(settings, new SocketReceiver({ appToken, apiUrl, logger: slackLogger }, log), logger);
}

function connect(
  { botToken, apiUrl }: ConnectionSettings,
  receiver: Receiver & { readonly isOpen: boolean },
  logger: Logger,
  receive?: Connection['receive'],
): Connection {
  const app = new App({
    token: botToken,
    receiver,
    logger: toBoltLogger(logger),
    logLevel: LogLevel.INFO,
    // The bot keeps no conversation in the process.
    convoStore: false,
    // Bolt acknowledges what it cannot authorize: it has to know the bot before the first click arrives.
    deferInitialization: true,
    clientOptions: {
      ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
      // The client has no time-out of its own, and tries again for half an hour: whoever calls decides that.
      timeout: 10_000,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    },
  });
  return {
    app,
    receive,
    async start() {
      try {
        await app.init();
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Slack does not know the bot: ${reason}. Check SLACK_BOT_TOKEN.`, { cause });
      }
      await receiver.start();
    },
    async stop() {
      await receiver.stop();
    },
    isReady: () => receiver.isOpen,
  };
}
