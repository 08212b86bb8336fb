import type { Store } from '../../store/port.ts';

const KEPT_MS = 5_000;

interface Remembered {
  readonly read: Promise<number>;
  readonly until: number;
  /** What this process has asked since it was read. */
  asked: number;
}

/** How many more requests of a person may be asked now, and how many waited before. */
export interface Grant {
  readonly granted: number;
  readonly waiting: number;
}

/**
 * Keeps one person from having more requests wait, over all threads, than people can look at. It is a brake and not a lock: a
 * count that was read holds for five seconds, with what this process has asked since, so that a pause seldom costs a read; several
 * processes may together go somewhat over the limit, and a place that becomes free may be seen five seconds late.
 */
export class PendingBrake {
  readonly #store: Pick<Store, 'countPending'>;
  readonly #now: () => number;
  readonly #people = new Map<string, Remembered>();

  constructor(store: Pick<Store, 'countPending'>, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#now = now;
  }

  /** Grants as many of the wanted requests as still fit under the limit, and counts them as asked; it fails when the record does. */
  async take(person: string, wanted: number, limit: number): Promise<Grant> {
    const known = this.#of(person);
    const waiting = (await known.read) + known.asked;
    const granted = Math.max(0, Math.min(wanted, limit - waiting));
    known.asked += granted;
    return { granted, waiting };
  }

  #of(person: string): Remembered {
    const now = this.#now();
    const known = this.#people.get(person);
    if (known !== undefined && now < known.until) return known;
    for (const [id, { until }] of this.#people) if (until <= now) this.#people.delete(id);
    const fresh = { read: this.#store.countPending(person), until: now + KEPT_MS, asked: 0 };
    this.#people.set(person, fresh);
    fresh.read.catch(() => this.#people.delete(person));
    return fresh;
  }
}
