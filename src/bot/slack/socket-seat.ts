import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { withTimeout } from './running-work.ts';
import { type Envelope, SlackSocket, type SocketOptions } from './slack-socket.ts';

export interface SeatOptions {
  readonly options: SocketOptions;
  readonly onEnvelope: (envelope: Envelope) => void;
  readonly logger: Logger;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Slack closes a connection about ten seconds after its announcement. */
const LINGER_MS = 15_000;
/** A socket that is being opened during a stop closes itself afterwards. */
const LEAVE_MS = 5_000;
const SHORT_LIFE_MS = 5_000;

/** Keeps one socket open: the next one is open before the last one is closed, and a lost one is replaced. */
export class SocketSeat {
  readonly #options: SeatOptions;
  readonly #left = new AbortController();
  readonly #lingering = new Set<SlackSocket>();
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
    await Promise.all([...this.#lingering].map((socket) => socket.close()));
    await this.#socket?.close();
    await withTimeout(LEAVE_MS, this.#keeping);
  }

  async #keep(first: SlackSocket): Promise<void> {
    for (let socket: SlackSocket | undefined = first; socket !== undefined; ) {
      const openedAt = Date.now();
      await socket.ending;
      const last = socket;
      // A pause, because Slack may close each socket as soon as it is open.
      if (!last.isOpen && Date.now() - openedAt < SHORT_LIFE_MS) await this.#pause(FIRST_PAUSE_MS);
      this.#lingering.add(last);
      socket = await this.#openAgain();
      void this.#retire(last);
    }
  }

  async #open(): Promise<SlackSocket> {
    const { options, onEnvelope } = this.#options;
    const socket = new SlackSocket(options, onEnvelope);
    await socket.open();
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
        LINGER_MS,
        socket.closed.then(() => true),
      )) === undefined
    )
      await socket.close();
    this.#lingering.delete(socket);
  }
}
