import type { ClaimedTurn, OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';

/** The kind of an outbox row that marks a streamed message as interrupted. */
export const CUT_STREAM = 'cut-stream';

/**
 * Watches over a streamed message until the end of its turn is on record. A row of the outbox says that the message was interrupted; this
 * process holds it, renews it while the turn runs, and removes it in the end. If the process dies, another one sends the row.
 */
export class StreamWatch {
  readonly #context: Pick<BotContext, 'store' | 'timing' | 'logger'>;
  readonly #turn: Pick<ClaimedTurn, 'threadId' | 'token'>;
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

  async begin(ts: string): Promise<void> {
    this.#timer = setInterval(() => void this.#renew(ts), this.#context.timing.claimMs / 3);
    this.#timer.unref();
    await this.#renew(ts);
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
  #renew(ts: string): Promise<void> {
    this.#last = this.#last.then(async () => {
      const { store, timing, logger } = this.#context;
      const { threadId, token } = this.#turn;
      const before = this.#held;
      this.#renewals += 1;
      const id = `${threadId}/${token}/stream-${this.#renewals}`;
      try {
        const body = { kind: CUT_STREAM, ...parseThreadId(threadId), ts, text: '' };
        this.#held = await store.holdOutbox(threadId, { id, body }, timing.claimMs);
        if (before !== undefined) await store.doneRow(before);
      } catch (err) {
        logger.debug({ threadId, err }, 'stream not watched');
      }
    });
    return this.#last;
  }
}
