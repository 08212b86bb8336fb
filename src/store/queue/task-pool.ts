/** Runs tasks up to a concurrency limit, and each name once at a time. A task must not throw. */
export class TaskPool {
  readonly #concurrency: number;
  readonly #maxQueued: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => Promise<void>>();

  constructor(concurrency: number, maxQueued: number) {
    this.#concurrency = concurrency;
    this.#maxQueued = maxQueued;
  }

  /** Accepts a task unless one of that name is running or queued, or the queue is full. */
  offer(name: string, task: () => Promise<void>): void {
    if (this.#running.has(name) || this.#waiting.has(name) || this.#waiting.size >= this.#maxQueued) return;
    this.#waiting.set(name, task);
    this.#advance();
  }

  /** Drops queued tasks, and resolves when the running ones have ended. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #advance(): void {
    for (const [name, task] of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return;
      this.#waiting.delete(name);
      const ended = task().then(() => {
        this.#running.delete(name);
        this.#advance();
      });
      this.#running.set(name, ended);
    }
  }
}
