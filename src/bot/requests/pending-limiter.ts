import type { Store } from '../../store/port/store.ts';
import type { PendingLimits } from '../../tools/manifest/manifest.ts';

const KEPT_MS = 5_000;

interface Count {
  readonly read: Promise<number>;
  readonly until: number;
  /** The requests that this process has admitted since. */
  admitted: number;
}

/** The number of requests that may be opened now, and the reason given for the others. */
export interface Quota {
  readonly admitted: number;
  readonly reason: string;
}

/**
 * Limits the open requests of a person over all threads, and of one round of a thread. The limit is soft: a count is cached for five
 * seconds, with what this process has admitted since, so several processes may together exceed it, and a free place may be seen late.
 */
export class PendingLimiter {
  readonly #store: Pick<Store, 'countPending'>;
  readonly #now: () => number;
  readonly #people = new Map<string, Count>();

  constructor(store: Pick<Store, 'countPending'>, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns how many of the wanted requests fit, and counts them as admitted. */
  async quotaFor(
    requester: string,
    wanted: number,
    { pendingPerThread, pendingPerPerson }: PendingLimits,
  ): Promise<Quota> {
    // Most turns open no request, and need no count.
    if (wanted === 0) return { admitted: 0, reason: '' };
    const inThread = Math.min(wanted, pendingPerThread);
    const { admitted, waiting } = await this.admit(requester, inThread, pendingPerPerson);
    const reason =
      admitted < inThread
        ? `This person has ${waiting + admitted} requests waiting for decisions, over all threads, and may have ${pendingPerPerson}. Ask again when some of them are decided.`
        : `This thread has ${admitted} requests waiting for decisions, and may have ${pendingPerThread}. Ask again when they are decided.`;
    return { admitted, reason };
  }

  /** Admits as many of the wanted requests as fit under the person's limit; fails if the record does. */
  async admit(
    person: string,
    wanted: number,
    limit: number,
  ): Promise<{ readonly admitted: number; readonly waiting: number }> {
    const count = this.#countFor(person);
    const waiting = (await count.read) + count.admitted;
    const admitted = Math.max(0, Math.min(wanted, limit - waiting));
    count.admitted += admitted;
    return { admitted, waiting };
  }

  #countFor(person: string): Count {
    const now = this.#now();
    const known = this.#people.get(person);
    if (known !== undefined && now < known.until) return known;
    for (const [id, { until }] of this.#people) if (until <= now) this.#people.delete(id);
    const fresh = { read: this.#store.countPending(person), until: now + KEPT_MS, admitted: 0 };
    this.#people.set(person, fresh);
    fresh.read.catch(() => this.#people.delete(person));
    return fresh;
  }
}
