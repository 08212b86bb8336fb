import type { CallUse, ReadTotals } from '../../tools/gate/limits.ts';

interface Counted {
  readonly at: number;
  readonly amount: number;
}

/** Counts replayed calls against limits, by the time of their rows, as the record counts them by its clock. */
export class LimitCounts {
  readonly #byKey = new Map<string, Map<string, Counted>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  /** Counts a call at a time; the same call again only counts later. */
  add(action: string, uses: readonly CallUse[], at: number): void {
    if (uses.length === 0) return;
    for (const { key, amount = 0 } of uses) {
      const counted = this.#byKey.get(key) ?? new Map<string, Counted>();
      // Moved to the end, so that the oldest is always the first.
      counted.delete(action);
      this.#byKey.set(key, counted.set(action, { at, amount }));
    }
    this.#keysOf.set(
      action,
      uses.map(({ key }) => key),
    );
  }

  /** Gives back what a call counted that had no effect. */
  remove(action: string): void {
    for (const key of this.#keysOf.get(action) ?? []) this.#byKey.get(key)?.delete(action);
    this.#keysOf.delete(action);
  }

  /** Returns a reader of the totals at a time. */
  at(now: number): ReadTotals {
    return async (limits) => limits.map(({ key, windowMs }) => this.#total(key, now - windowMs));
  }

  #total(key: string, before: number): { readonly count: number; readonly sum: number } {
    const counted = this.#byKey.get(key);
    if (counted === undefined) return { count: 0, sum: 0 };
    for (const [action, { at }] of counted) {
      if (at > before) break;
      counted.delete(action);
      this.#keysOf.delete(action);
    }
    let sum = 0;
    for (const { amount } of counted.values()) sum += amount;
    return { count: counted.size, sum };
  }
}
