import { setTimeout as sleep } from 'node:timers/promises';
import { App, type Logger as BoltLogger, LogLevel, type Receiver } from '@slack/bolt';
import { ErrorCode } from '@slack/web-api';
import type { Logger } from 'pino';
import { describeError } from '../../agent/errors.ts';
import { backOffMs } from '../../agent/util/abort.ts';
import type { HttpPart } from '../../http/http-part.ts';
import type { Metrics } from '../../observe/metrics.ts';
import { observedSlackFetch } from '../../observe/observed-fetch.ts';
import { type ProxySettings, proxiedFetch } from '../../tools/http/proxy.ts';
import { HttpReceiver, type Once } from './http-receiver.ts';
import { SocketReceiver } from './socket-receiver.ts';

/** The connection to Slack: sockets that the bot opens, or requests that Slack signs. */
export type ConnectionSettings = { readonly botToken: string; readonly apiUrl?: string | undefined } & (
  | { readonly mode: 'socket'; readonly appToken: string }
  | { readonly mode: 'http'; readonly signingSecret: string }
);

export interface ConnectionDependencies {
  readonly logger: Logger;
  /** Remembers the received requests for all processes of the bot. */
  readonly once: Once;
  readonly proxy?: ProxySettings | undefined;
  readonly metrics: Metrics;
  /** The time for which a start waits for a Slack that cannot be reached. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 60_000;
const BACK_OFF = { firstMs: 250, longestMs: 10_000 };

/** The bot's connection to Slack, with the app that listens on it. */
export interface Connection {
  readonly app: App;
  /** The address for Slack's requests; `undefined` with sockets. */
  readonly part: HttpPart | undefined;
  start(): Promise<void>;
  /** Asks Slack who the bot is; `start` does it as well. */
  init(): Promise<void>;
  /** Accepts nothing new, and waits for running listeners. */
  stop(): Promise<void>;
  isReady(): boolean;
}

/** Creates the connection and its app. Nothing is opened before `start`, and nothing is received before Slack knows the bot. */
export function createConnection(
  settings: ConnectionSettings,
  { logger, once, proxy, metrics, patienceMs = PATIENCE_MS }: ConnectionDependencies,
): Connection {
  const log = logger.child({ part: 'slack' });
  const slackLogger = toBoltLogger(logger);
  if (settings.mode === 'http') {
    const receiver = new HttpReceiver({ signingSecret: settings.signingSecret, once, logger: log });
    return connect(settings, receiver, {
      logger,
      proxy,
      metrics,
      patienceMs,
      part: receiver.part(),
    });
  }
  const { appToken, apiUrl } = settings;
  const receiver = new SocketReceiver({ appToken, apiUrl, proxy, logger: slackLogger }, log);
  return connect(settings, receiver, { logger, proxy, metrics, patienceMs, part: undefined });
}

function connect(
  { botToken, apiUrl }: ConnectionSettings,
  receiver: Receiver & { readonly isOpen: boolean },
  {
    logger,
    proxy,
    metrics,
    patienceMs,
    part,
  }: Pick<ConnectionDependencies, 'logger' | 'proxy' | 'metrics'> &
    Pick<Connection, 'part'> & { readonly patienceMs: number },
): Connection {
  const app = new App({
    token: botToken,
    receiver,
    logger: toBoltLogger(logger),
    logLevel: LogLevel.INFO,
    // The bot keeps no conversation in the process.
    convoStore: false,
    // Bolt acknowledges what it cannot authorize, so it has to know the bot before the first click arrives.
    deferInitialization: true,
    clientOptions: {
      ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
      // The client has no timeout of its own and retries for half an hour; here each caller decides that.
      timeout: 10_000,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      fetch: observedSlackFetch(proxy === undefined ? fetch : proxiedFetch(proxy), metrics),
    },
  });
  let known: Promise<void> | undefined;
  const init = async (): Promise<void> => {
    const until = performance.now() + patienceMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return await app.init();
      } catch (cause) {
        const reason = describeError(cause);
        if (!isUnreachable(cause))
          throw new Error(`Slack does not know the bot: ${reason}. Check SLACK_BOT_TOKEN.`, { cause });
        if (performance.now() >= until) throw new Error(`Slack cannot be reached: ${reason}`, { cause });
        logger.warn({ part: 'slack', reason }, 'slack cannot be reached, will retry');
        await sleep(backOffMs(failures, BACK_OFF));
      }
    }
  };
  const initOnce = (): Promise<void> => {
    known ??= init();
    return known;
  };
  return {
    app,
    part,
    init: initOnce,
    async start() {
      await initOnce();
      await receiver.start();
    },
    async stop() {
      await receiver.stop();
    },
    isReady: () => receiver.isOpen,
  };
}

const UNREACHABLE: readonly unknown[] = [
  ErrorCode.RequestError,
  ErrorCode.HTTPError,
  ErrorCode.RateLimitedError,
];

/** Tells whether a call got no answer of Slack about the call itself. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNREACHABLE.includes(error.code);
}

/** Cuts a line where its payload begins: Slack's libraries write whole messages of people, with all that these enter into modals. */
function withoutPayload(text: string): string {
  const [head = '', payload] = text.split(/([{[<])/, 2);
  return payload === undefined ? head : `${head.trimEnd()} (payload left out)`;
}

/** Lets Bolt write to the one log. */
function toBoltLogger(logger: Logger): BoltLogger {
  const log = logger.child({ part: 'slack' });
  const text = (values: unknown[]) =>
    values.map((value) => (value instanceof Error ? value.message : String(value))).join(' ');
  return {
    debug: (...values) => log.debug(withoutPayload(text(values))),
    info: (...values) => log.info(text(values)),
    warn: (...values) => log.warn(text(values)),
    error: (...values) => log.error(text(values)),
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  };
}
