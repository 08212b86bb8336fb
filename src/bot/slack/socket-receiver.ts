import type { App, Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { processHeld } from './process-held.ts';
import { RunningWork } from './running-work.ts';
import type { Envelope, SocketOptions } from './slack-socket.ts';
import { SocketSeat } from './socket-seat.ts';

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
