import type { Report } from '../store/port/report.ts';
import type { Store } from '../store/port/store.ts';
import { callerId } from '../tools/callers.ts';
import type { PendingLimits } from '../tools/manifest/manifest.ts';
import { parseCallerThread } from './caller-threads.ts';

/** A count that leaves room is used for this long. */
const KEPT_MS = 60_000;
/** A count that leaves no room is read again after this time. */
const FULL_MS = 5_000;
/** The newest requests of a person that are counted, so that a count costs no more after years of use. */
const NEWEST_COUNTED = 1_000;

interface Count {
  readonly read: Promise<number>;
  readonly readAt: number;
  /** The requests that this process has admitted since, and how many of them are on record by now. */
  admitted: number;
  asked: number;
  /** Whether a request that it counts has been decided or withdrawn. */
  isStale: boolean;
}

/** The events after which a request waits for nobody. */
const ENDS_WAIT: ReadonlySet<string> = new Set([
  'approved',
  'answered',
  'rejected',
  'expired',
  'withdrawn',
  'superseded',
  'abandoned',
]);

/** The number of requests that may be opened now, and the limit that keeps the others out, with how many wait under it. */
export interface Quota {
  readonly admitted: number;
  readonly limit: 'thread' | 'person';
  readonly waiting: number;
}

/**
 * Limits the open requests of a person over all threads, and of one round of a thread. The limit is soft: a count is cached for a
 * minute, with what this process has admitted since, and for five seconds if it leaves no room. Several processes may therefore exceed
 * the limit together, and a free place may be seen five seconds late. The place of a caller is free as soon as this process has put the end of
 * its request on record.
 */
export class PendingLimiter {
  readonly #store: Pick<Store, 'list'>;
  readonly #now: () => number;
  readonly #people = new Map<string, Count>();

  constructor(store: Pick<Store, 'list'>, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns how many of the wanted requests fit for every requester, and counts them as admitted. */
  async quotaFor(
    requesters: readonly string[],
    wanted: number,
    { pendingPerThread, pendingPerPerson }: PendingLimits,
  ): Promise<Quota> {
    // Most turns open no request, and need no count.
    if (wanted === 0) return { admitted: 0, limit: 'thread', waiting: 0 };
    const inThread = Math.min(wanted, pendingPerThread);
    let admitted = inThread;
    let waiting = 0;
    for (const requester of requesters) {
      const result = await this.admit(requester, admitted, pendingPerPerson);
      if (result.admitted < admitted) ({ admitted, waiting } = result);
    }
    return admitted < inThread
      ? { admitted, limit: 'person', waiting: waiting + admitted }
      : { admitted, limit: 'thread', waiting: admitted };
  }

  /** Admits as many of the wanted requests as fit under the person's limit; fails if the record does. */
  async admit(
    person: string,
    wanted: number,
    limit: number,
  ): Promise<{ readonly admitted: number; readonly waiting: number }> {
    let count = this.#countFor(person, KEPT_MS);
    if ((await count.read) + count.admitted + wanted > limit) count = this.#countFor(person, FULL_MS);
    const waiting = (await count.read) + count.admitted;
    const admitted = Math.max(0, Math.min(wanted, limit - waiting));
    count.admitted += admitted;
    return { admitted, waiting };
  }

  /** Tells whether one more request fits under the person's limit now, for a call that may need none. */
  async hasRoom(person: string, limit: number): Promise<boolean> {
    const { requestIds } = await this.#store.list('pending', [person], { limit });
    return requestIds.length < limit;
  }

  /** Follows the requests of callers: one that has ended makes room for the next one. */
  follow({ events }: Pick<Report, 'events'>): void {
    for (const { event, request } of events) {
      const caller = request && parseCallerThread(request.threadId)?.caller;
      const count = caller === undefined ? undefined : this.#people.get(callerId(caller));
      if (count === undefined) continue;
      if (event === 'asked') count.asked += 1;
      if (ENDS_WAIT.has(event)) count.isStale = true;
    }
  }

  #countFor(person: string, maxAgeMs: number): Count {
    const now = this.#now();
    const known = this.#people.get(person);
    if (known?.isStale === false && now < known.readAt + maxAgeMs) return known;
    // What was admitted a moment ago may not be on record yet.
    const admitted = known?.isStale === true ? Math.max(0, known.admitted - known.asked) : 0;
    for (const [id, { readAt }] of this.#people) if (readAt + KEPT_MS <= now) this.#people.delete(id);
    const listed = this.#store.list('pending', [person], { limit: NEWEST_COUNTED });
    const read = listed.then(({ requestIds }) => requestIds.length);
    const fresh = { read, readAt: now, admitted, asked: 0, isStale: false };
    this.#people.set(person, fresh);
    fresh.read.catch(() => this.#people.delete(person));
    return fresh;
  }
}
