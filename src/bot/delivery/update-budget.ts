/** Slack allows about 50 updates a minute in a workspace; progress uses at most this many of them, so that decisions have room. */
const PROGRESS_PER_MINUTE = 20;
const MINUTE_MS = 60_000;

/** Counts the updates of messages in the last minute. Progress waits while they are many; a decided card does not. */
export class UpdateBudget {
  #sent: number[] = [];

  count(now = performance.now()): void {
    this.#sent = [...this.#sent.filter((at) => at > now - MINUTE_MS), now];
  }

  hasRoomForProgress(now = performance.now()): boolean {
    return this.#sent.filter((at) => at > now - MINUTE_MS).length < PROGRESS_PER_MINUTE;
  }
}
