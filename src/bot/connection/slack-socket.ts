import type { Logger as SlackLogger } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import { within } from './running-work.ts';

/** How a socket is opened. */
export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  readonly logger: SlackLogger;
}

/** Something that arrived, and how to tell Slack so. */
export interface Envelope {
  readonly ack: (response?: unknown) => Promise<void>;
  readonly body: Record<string, unknown>;
  readonly retry_num?: number;
  readonly retry_reason?: string;
}

const HELLO_MS = 20_000;
const CLOSE_MS = 2_000;
/** No string: the client also emits whatever type an event of Slack's has. */
const LEAVING = Symbol('leaving');

/** The client of Slack, but one that stays when it is told that its connection will be refreshed. */
class StayingClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    if (!isBinary && typeof data === 'string' && isRefresh(data)) this.emit(LEAVING);
    else await super.onWebSocketMessage(data, isBinary);
  }
}

/**
 * One connection, from its opening to its end. When Slack is about to close it, it says so and goes on: what arrives until
 * the end is still taken and acknowledged. It never opens another one by itself.
 */
export class SlackSocket {
  /** Resolves when another socket has to take over: Slack will close this one, or it is closed. */
  readonly ending: Promise<void>;
  readonly closed: Promise<void>;
  readonly #client: StayingClient;
  #isOpen = false;

  constructor({ appToken, apiUrl, logger }: SocketOptions, onEnvelope: (envelope: Envelope) => void) {
    this.#client = new StayingClient({
      appToken,
      logger,
      // Its own way to connect again waits five seconds, and ends the process when Slack refuses.
      autoReconnectEnabled: false,
      // Left unset, it would try a hundred times.
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
      hasGreeted = await within(
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

  /** Closes the connection, by force when Slack does not take part. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const closing = this.#client.disconnect();
    if (
      (await within(
        CLOSE_MS,
        closing.then(() => true),
      )) === undefined
    )
      await this.#client.disconnect();
  }
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
