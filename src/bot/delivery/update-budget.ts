/** Slack allows about 50 updates a minute in a workspace. Progress uses a share of them, and stops when few are left for decisions. */
const PROGRESS_PER_MINUTE = 20;
const UPDATES_PER_MINUTE = 40;
const MINUTE_MS = 60_000;

/** Counts the updates of messages in the last minute. Progress waits while they are many; a decided card does not. */
export class UpdateBudget {
  #sent: number[] = [];
  #progress: number[] = [];

  count(now = performance.now()): void {
    this.#sent = [...lastMinute(this.#sent, now), now];
  }

  /** Takes one update for progress, if one is left. */
  takeProgress(now = performance.now()): boolean {
    this.#progress = lastMinute(this.#progress, now);
    const isFull =
      this.#progress.length >= PROGRESS_PER_MINUTE ||
      lastMinute(this.#sent, now).length >= UPDATES_PER_MINUTE;
    if (isFull) return false;
    this.#progress.push(now);
    return true;
  }
}

function lastMinute(times: readonly number[], now: number): number[] {
  return times.filter((at) => at > now - MINUTE_MS);
}
