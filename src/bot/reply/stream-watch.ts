import type { ClaimedTurn, OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';

/** The kind of an outbox row that marks a streamed message as interrupted. */
export const CUT_STREAM = 'cut-stream';

/** The most that this clock and Slack's may differ. */
const SKEW_MS = 60_000;

/**
 * Watches over a streamed message from before it is started until the end of its turn is on record. A row of the outbox says that the
 * message was interrupted; this process holds it, renews it while the turn runs, and removes it in the end. If the process dies, another
 * one sends the row. A row without a `ts` stands for a stream whose start was not answered: it was started in the window of time, or not
 * at all. The window ends before another process can have claimed the thread, so the stream of a later turn is never in it.
 */
export class StreamWatch {
  readonly #context: Pick<BotContext, 'store' | 'timing' | 'logger'>;
  readonly #turn: Pick<ClaimedTurn, 'threadId' | 'token'>;
  #ts: string | undefined;
  #window = { from: 0, until: 0 };
  #held: (OutboxItem & { readonly kind: 'row' }) | undefined;
  #renewals = 0;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(
    context: Pick<BotContext, 'store' | 'timing' | 'logger'>,
    turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  ) {
    this.#context = context;
    this.#turn = turn;
  }

  /** Records that a stream is about to be started. */
  async prepare(): Promise<void> {
    const now = Date.now();
    this.#window = { from: now - SKEW_MS, until: now + this.#context.timing.leaseMs / 2 };
    this.#timer ??= setInterval(() => void this.#renew(), this.#context.timing.claimMs / 3);
    this.#timer.unref();
    await this.#renew();
  }

  /** Records the message of the stream. */
  async begin(ts: string): Promise<void> {
    this.#ts = ts;
    await this.#renew();
  }

  /** Removes the row; the message is complete, or its delivery is on record. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
    if (this.#held !== undefined) await this.#context.store.doneRow(this.#held);
  }

  /** Stops renewing without removing the row, because the turn has not been recorded. */
  leave(): void {
    clearInterval(this.#timer);
  }

  /** Holds a new row, and then removes the one before it, so that there is always one. */
  #renew(): Promise<void> {
    this.#last = this.#last.then(async () => {
      const { store, timing, logger } = this.#context;
      const { threadId, token } = this.#turn;
      const before = this.#held;
      this.#renewals += 1;
      const id = `${threadId}/${token}/stream-${this.#renewals}`;
      try {
        const place = this.#ts === undefined ? this.#window : { ts: this.#ts };
        const body = { kind: CUT_STREAM, ...parseThreadId(threadId), ...place, text: '' };
        this.#held = await store.holdOutbox(threadId, { id, body }, timing.claimMs);
        if (before !== undefined) await store.doneRow(before);
      } catch (err) {
        logger.debug({ threadId, err }, 'stream not watched');
      }
    });
    return this.#last;
  }
}
