import { withTimeout } from './abort.ts';

/** The running work, so that a shutdown can wait for it. */
export class RunningWork {
  readonly #running = new Set<Promise<unknown>>();

  /** Adds work until it has ended. */
  add(work: Promise<unknown>): void {
    const counted = work
      .catch(() => {})
      .finally(() => {
        this.#running.delete(counted);
      });
    this.#running.add(counted);
  }

  /** Resolves when no work is left, or after the time limit. */
  async idle(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (this.#running.size > 0 && Date.now() < deadline) {
      await withTimeout(Promise.all(this.#running), deadline - Date.now());
    }
  }
}
