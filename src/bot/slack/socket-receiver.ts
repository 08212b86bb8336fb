import { setTimeout as sleep } from 'node:timers/promises';
import type { App, Receiver, Logger as SlackLogger } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import type { Logger } from 'pino';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { withTimeout } from '../../agent/util/abort.ts';
import { RunningWork } from '../../agent/util/running-work.ts';
import { openDispatcher, type ProxySettings, proxiedFetch } from '../../tools/http/proxy.ts';
import { processHeld } from './process-held.ts';

/** Two, because a click that arrives during the refresh of a single socket would be lost. */
const SOCKETS = 2;
const STOP_MS = 5_000;

/** Feeds one Bolt app from two sockets. */
export class SocketReceiver implements Receiver {
  readonly #seats: readonly SocketSeat[];
  readonly #work = new RunningWork();
  readonly #logger: Logger;
  #app: App | undefined;

  constructor(options: SocketOptions, logger: Logger) {
    this.#logger = logger;
    const onEnvelope = (envelope: Envelope): void => this.#work.add(this.#process(envelope));
    this.#seats = Array.from({ length: SOCKETS }, () => new SocketSeat({ options, onEnvelope, logger }));
  }

  /** Whether Slack can reach the bot; one socket is enough. */
  get isOpen(): boolean {
    return this.#seats.some((seat) => seat.isOpen);
  }

  init(app: App): void {
    this.#app = app;
  }

  /** Resolves when every socket is connected; if one fails, none stays open. */
  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#seats.map((seat) => seat.take()));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    await this.stop();
    throw failed.reason;
  }

  async stop(): Promise<void> {
    // An acknowledgement needs the socket of its payload.
    await this.#work.idle(STOP_MS);
    await Promise.all(this.#seats.map((seat) => seat.leave()));
    await this.#work.idle(STOP_MS);
  }

  async #process({ ack, body, retry_num, retry_reason }: Envelope): Promise<void> {
    let isAcknowledged = false;
    const event = {
      body,
      ack: async (response?: unknown): Promise<void> => {
        if (isAcknowledged) return;
        isAcknowledged = true;
        await ack(response);
      },
      ...(retry_num !== undefined && { retryNum: retry_num }),
      ...(retry_reason !== undefined && { retryReason: retry_reason }),
    };
    try {
      await processHeld(this.#app, event, this.#logger);
    } catch (err) {
      this.#logger.error({ err }, 'listener failed');
    }
  }
}

interface SeatOptions {
  readonly options: SocketOptions;
  readonly onEnvelope: (envelope: Envelope) => void;
  readonly logger: Logger;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Slack closes a connection about ten seconds after its announcement. */
const LINGER_MS = 15_000;
const LEAVE_MS = 5_000;
const SHORT_LIFE_MS = 5_000;

/** Keeps one socket open: the next one is open before the last one is closed, and a lost one is replaced. */
class SocketSeat {
  readonly #options: SeatOptions;
  readonly #left = new AbortController();
  /** Those that are being opened, and those that Slack is about to close. */
  readonly #others = new Set<SlackSocket>();
  #socket: SlackSocket | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(options: SeatOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen ?? false;
  }

  /** Opens the first socket, and keeps one open until `leave`. */
  async take(): Promise<void> {
    const first = await this.#open();
    if (this.#left.signal.aborted) {
      await first.close();
      throw new Error('The connection to Slack was stopped before it was open');
    }
    this.#keeping = this.#keep(first);
  }

  async leave(): Promise<void> {
    this.#left.abort();
    await Promise.all([...this.#others].map((socket) => socket.close()));
    await this.#socket?.close();
    await withTimeout(this.#keeping, LEAVE_MS);
  }

  async #keep(first: SlackSocket): Promise<void> {
    for (let socket: SlackSocket | undefined = first; socket !== undefined; ) {
      const openedAt = Date.now();
      await socket.ending;
      const last = socket;
      // A pause, because Slack may close each socket as soon as it is open.
      if (!last.isOpen && Date.now() - openedAt < SHORT_LIFE_MS) await this.#pause(FIRST_PAUSE_MS);
      this.#others.add(last);
      socket = await this.#openAgain();
      void this.#retire(last);
    }
  }

  async #open(): Promise<SlackSocket> {
    const { options, onEnvelope } = this.#options;
    const socket = new SlackSocket(options, onEnvelope);
    this.#others.add(socket);
    try {
      await socket.open();
    } finally {
      this.#others.delete(socket);
    }
    this.#socket = socket;
    return socket;
  }

  /** Retries until a socket is open; `undefined` after `leave`. */
  async #openAgain(): Promise<SlackSocket | undefined> {
    const { logger } = this.#options;
    const { signal } = this.#left;
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const socket = await this.#open();
        if (!signal.aborted) return socket;
        await socket.close();
        return undefined;
      } catch (err) {
        logger.warn({ err }, 'socket not opened, will retry');
        await this.#pause(pause);
      }
    }
    return undefined;
  }

  /** Waits with jitter, so that several bots do not reconnect at the same moment. */
  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds * (0.5 + Math.random()), undefined, { signal: this.#left.signal }).catch(
      () => {},
    );
  }

  /** Waits until Slack closes a socket, because payloads on it would be lost otherwise. */
  async #retire(socket: SlackSocket): Promise<void> {
    if (
      socket.isOpen &&
      (await withTimeout(
        socket.closed.then(() => true),
        LINGER_MS,
      )) === undefined
    )
      await socket.close();
    this.#others.delete(socket);
  }
}

/** The options of a socket. */
interface SocketOptions {
  /** The time in which Slack says hello. */
  readonly helloMs?: number;
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  readonly logger: SlackLogger;
  readonly proxy?: ProxySettings | undefined;
}

/** A received payload, with its acknowledgement. */
interface Envelope {
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
class SlackSocket {
  /** Resolves when another socket has to take over: Slack will close this one, or has closed it. */
  readonly ending: Promise<void>;
  readonly closed: Promise<void>;
  readonly #client: StayingClient;
  readonly #helloMs: number;
  readonly #closed = new AbortController();
  #isOpen = false;

  constructor(
    { appToken, apiUrl, logger, proxy, helloMs = HELLO_MS }: SocketOptions,
    onEnvelope: (envelope: Envelope) => void,
  ) {
    this.#helloMs = helloMs;
    const fetchThrough = proxy === undefined ? fetch : proxiedFetch(proxy);
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
        fetch: (url, init) => fetchThrough(url, { ...init, signal: this.#untilClosed(init?.signal) }),
      },
    });
    this.#client.on('slack_event', onEnvelope);
    // The client itself would connect when Slack answers, however long ago it was told to disconnect.
    this.#client.on('connecting', () => this.#closed.signal.throwIfAborted());
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

  #untilClosed(signal: AbortSignal | null | undefined): AbortSignal {
    return signal == null ? this.#closed.signal : AbortSignal.any([signal, this.#closed.signal]);
  }

  /** Resolves when Slack has said hello. */
  async open(): Promise<void> {
    let hasGreeted: true | undefined;
    try {
      hasGreeted = await withTimeout(
        this.#client.start().then(() => true as const),
        this.#helloMs,
      );
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'the connection was closed';
      throw new Error(`Slack did not open a socket: ${reason}`, { cause });
    }
    if (hasGreeted === undefined) {
      await this.close();
      throw new Error(`Slack did not say hello on a socket within ${this.#helloMs / 1_000} seconds`);
    }
    this.#isOpen = true;
  }

  /** Closes the connection, by force if Slack does not respond; one that is not open yet is never opened. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#closed.abort(new Error('The socket was closed before it was open'));
    const closing = this.#client.disconnect();
    if (
      (await withTimeout(
        closing.then(() => true),
        CLOSE_MS,
      )) === undefined
    )
      await this.#client.disconnect();
  }
}

const EventsEnvelope = z.looseObject({ type: z.literal('events_api') });

/** Renames the envelope of a payload that holds no event, such as `app_rate_limited`: the client reads one in each, and ends the process if there is none. */
function withoutEvent(message: string): string | undefined {
  if (/"event":\s*\{/.test(message)) return undefined;
  const parsed = EventsEnvelope.safeParse(tryParseJson(message));
  return parsed.success ? JSON.stringify({ ...parsed.data, type: 'without_event' }) : undefined;
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
