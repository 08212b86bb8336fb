/** The updates of messages in the current window, of all processes. */
export interface UpdateCounts {
  readonly updates: number;
  /** The part of them that was asked for progress. */
  readonly progress: number;
}

/** Counts updates of messages across all processes. */
export interface UpdateCounter {
  /** Counts one update, and returns the counts with it. */
  add(kind: keyof UpdateCounts): Promise<UpdateCounts>;
}
