/** One limit that an action counts against. */
export interface LimitUse {
  /** The limit, and whom or what it counts for. */
  readonly key: string;
  readonly amount: number;
  /** The most in the window; `undefined` counts the action in any case. */
  readonly max: number | undefined;
  readonly windowMs: number;
}

/** The result of a reservation: if a limit would be exceeded, nothing is reserved. */
export type ReserveResult =
  | { readonly outcome: 'reserved' }
  | {
      readonly outcome: 'over';
      /** The index of the limit. */
      readonly index: number;
      readonly used: number;
    };

/** The used part of a limit in its window. */
export interface LimitTotal {
  readonly count: number;
  readonly sum: number;
}

/**
 * The counters of limits. An action is counted before it starts, with all of its limits in one step, and given back if it did not
 * start or had no effect. So a limit may count one too many for a while, and never one too few.
 */
export interface LimitStore {
  reserve(action: string, attempt: string, uses: readonly LimitUse[]): Promise<ReserveResult>;
  /** Gives back what one attempt reserved, unless another holds it too; without an attempt, what the action did. */
  giveBack(action: string, keys: readonly string[], attempt?: string): Promise<void>;
  readTotals(limits: readonly Pick<LimitUse, 'key' | 'windowMs'>[]): Promise<readonly LimitTotal[]>;
}
