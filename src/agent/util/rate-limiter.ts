const MOST_KEYS = 10_000;

interface Interval {
  since: number;
  count: number;
}

/** Admits a number of events per interval for each key, counted in this process. */
export class RateLimiter {
  readonly #max: number;
  readonly #perMs: number;
  readonly #intervals = new Map<string, Interval>();

  constructor({ max, perMs }: { readonly max: number; readonly perMs: number }) {
    this.#max = max;
    this.#perMs = perMs;
  }

  admits(key = ''): boolean {
    const interval = this.#intervalOf(key, performance.now());
    if (interval.count >= this.#max) return false;
    interval.count += 1;
    return true;
  }

  #intervalOf(key: string, now: number): Interval {
    const known = this.#intervals.get(key);
    if (known !== undefined && now - known.since < this.#perMs) return known;
    // The oldest interval is over first.
    this.#intervals.delete(key);
    for (const [old, { since }] of this.#intervals) {
      if (now - since < this.#perMs && this.#intervals.size < MOST_KEYS) break;
      this.#intervals.delete(old);
    }
    const fresh = { since: now, count: 0 };
    this.#intervals.set(key, fresh);
    return fresh;
  }
}
