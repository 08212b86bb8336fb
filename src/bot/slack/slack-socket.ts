import type { Logger as SlackLogger } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { openDispatcher, type ProxySettings } from '../../tools/http/proxy.ts';
import { withTimeout } from './running-work.ts';

/** The options of a socket. */
export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  readonly logger: SlackLogger;
  readonly proxy?: ProxySettings | undefined;
}

/** A received payload, with its acknowledgement. */
export interface Envelope {
  readonly ack: (response?: unknown) => Promise<void>;
  readonly body: Record<string, unknown>;
  readonly retry_num?: number;
  readonly retry_reason?: string;
}

const HELLO_MS = 20_000;
const CLOSE_MS = 2_000;
/** A symbol, because the client also emits Slack's event types as strings. */
const LEAVING = Symbol('leaving');

/**
 * Slack's client, but one that stays open when Slack announces a refresh. It overrides a protected method, which another version may
 * change without notice; package.json therefore pins `@slack/socket-mode` to an exact version.
 */
class StayingClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    if (isBinary || typeof data !== 'string') return super.onWebSocketMessage(data, isBinary);
    if (isRefresh(data)) this.emit(LEAVING);
    else await super.onWebSocketMessage(withoutEvent(data) ?? data, isBinary);
  }
}

/**
 * One connection to Slack. When Slack is about to close it, `ending` resolves, and payloads are still received and acknowledged until
 * the end. It never opens another connection by itself.
 */
export class SlackSocket {
  /** Resolves when another socket has to take over: Slack will close this one, or has closed it. */
  readonly ending: Promise<void>;
  readonly closed: Promise<void>;
  readonly #client: StayingClient;
  #isOpen = false;

  constructor({ appToken, apiUrl, logger, proxy }: SocketOptions, onEnvelope: (envelope: Envelope) => void) {
    this.#client = new StayingClient({
      appToken,
      logger,
      // The client's own reconnect waits five seconds, and ends the process if Slack refuses.
      autoReconnectEnabled: false,
      // Only then: with a dispatcher the client cannot destroy a socket that hangs.
      ...(proxy !== undefined && { dispatcher: openDispatcher(proxy) }),
      // The default is a hundred retries.
      clientOptions: {
        ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
        timeout: 10_000,
        retryConfig: { retries: 2, minTimeout: 500, factor: 2 },
      },
    });
    this.#client.on('slack_event', onEnvelope);
    this.closed = new Promise((resolve) => {
      this.#client.once('disconnected', () => {
        this.#isOpen = false;
        resolve();
      });
    });
    const leaving = new Promise<void>((resolve) => {
      this.#client.once(LEAVING, () => resolve());
    });
    this.ending = Promise.race([this.closed, leaving]);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when Slack has said hello. */
  async open(): Promise<void> {
    let hasGreeted: true | undefined;
    try {
      hasGreeted = await withTimeout(
        HELLO_MS,
        this.#client.start().then(() => true as const),
      );
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'the connection was closed';
      throw new Error(`Slack did not open a socket: ${reason}`, { cause });
    }
    if (hasGreeted === undefined) {
      await this.close();
      throw new Error(`Slack did not say hello on a socket within ${HELLO_MS / 1_000} seconds`);
    }
    this.#isOpen = true;
  }

  /** Closes the connection, by force if Slack does not respond. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const closing = this.#client.disconnect();
    if (
      (await withTimeout(
        CLOSE_MS,
        closing.then(() => true),
      )) === undefined
    )
      await this.#client.disconnect();
  }
}

const RateLimited = z.looseObject({
  type: z.literal('events_api'),
  payload: z.looseObject({ type: z.literal('app_rate_limited') }),
});

/** Renames the envelope of a payload that holds no event, which the client could not read. */
function withoutEvent(message: string): string | undefined {
  if (!message.includes('"app_rate_limited"')) return undefined;
  const parsed = RateLimited.safeParse(tryParseJson(message));
  return parsed.success ? JSON.stringify({ ...parsed.data, type: 'app_rate_limited' }) : undefined;
}

function isRefresh(message: string): boolean {
  if (!message.includes('"disconnect"')) return false;
  try {
    const { type, reason } = JSON.parse(message);
    return type === 'disconnect' && (reason === 'refresh_requested' || reason === 'warning');
  } catch {
    return false;
  }
}
