import { StoppedError } from '../agent/util/abort.ts';
import { isInTime } from './outcomes.ts';

/**
 * The lease of a turn by this process's own monotonic clock, counted from before the claim or the renewal was sent. It ends no later
 * than the lease on record. A turn that is cut records no end; the next turn continues from the journal.
 */
export class TurnLease {
  readonly #leaseMs: number;
  readonly #controller: AbortController;
  readonly #handOver: AbortSignal;
  readonly #held = new AbortController();
  #sentAt: number;
  #isLost = false;
  #isCut = false;

  constructor(leaseMs: number, sentAt: number, controller: AbortController, handOver: AbortSignal) {
    this.#leaseMs = leaseMs;
    this.#sentAt = sentAt;
    this.#controller = controller;
    this.#handOver = handOver;
  }

  renewed(sentAt: number): void {
    this.#sentAt = Math.max(this.#sentAt, sentAt);
  }

  /** Fires when a person stops the turn, or its lease is lost. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Fires when this process hands its turns over to another. */
  get handOver(): AbortSignal {
    return this.#handOver;
  }

  /** Fires when no model may be called any more; a tool that runs goes on. */
  get held(): AbortSignal {
    return this.#held.signal;
  }

  /** Ends a running call of the model because of a freeze; the turn is given back. */
  hold(): void {
    this.#held.abort();
  }

  /** Tells whether the turn may no longer record its end. */
  get isCut(): boolean {
    return this.#isCut || this.#isLost;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Tells whether an effect may start now; if not, the turn is cut. */
  mayStart(): boolean {
    this.checkTime();
    if (this.#handOver.aborted) this.cut();
    return !this.isCut;
  }

  /** Loses the lease if its time is over. */
  checkTime(): void {
    if (!isInTime(this.#sentAt, this.#leaseMs)) this.lose('the lease is over');
  }

  /** Stops the turn on a person's request; it records its end. */
  stop(): void {
    this.#controller.abort(new StoppedError());
  }

  lose(reason: string): void {
    this.#isLost = true;
    this.#controller.abort(new Error(reason));
  }

  /** Marks the turn as cut by the hand-over: something that it needed did not run. */
  cut(): void {
    this.#isCut = true;
  }
}

/** The means of a turn to be stopped and to keep its lease. */
export interface RunningTurn {
  readonly signal: AbortSignal;
  readonly lease: TurnLease;
  /** Adds what has to end with the turn: `recorded` when its end is on record, and `leave` in any case. */
  readonly tidyUp: (what: { recorded(): Promise<void>; leave(): void }) => void;
}
