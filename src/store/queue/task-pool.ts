/** Runs tasks up to a concurrency limit, and each name once at a time. A task must not throw. */
export class TaskPool {
  readonly #concurrency: number;
  readonly #maxQueued: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #queued = new Map<string, () => Promise<void>>();
  readonly #repeated = new Map<string, () => Promise<void>>();

  constructor(concurrency: number, maxQueued: number) {
    this.#concurrency = concurrency;
    this.#maxQueued = maxQueued;
  }

  /**
   * Runs a task now, unless the pool is at its concurrency limit; returns whether it was accepted. A task whose name is running runs
   * once more afterwards.
   */
  tryRun(name: string, task: () => Promise<void>): boolean {
    if (this.#running.has(name)) {
      this.#repeated.set(name, task);
      return true;
    }
    if (this.#queued.has(name)) return true;
    if (this.#running.size >= this.#concurrency) return false;
    this.#run(name, task);
    return true;
  }

  /** Queues a task, unless one of that name is running or queued, or the queue is full. */
  offer(name: string, task: () => Promise<void>): void {
    if (this.#running.has(name) || this.#queued.has(name) || this.#queued.size >= this.#maxQueued) return;
    this.#queued.set(name, task);
    this.#advance();
  }

  /** Drops queued tasks, and resolves when the running ones have ended. */
  async close(): Promise<void> {
    this.#queued.clear();
    this.#repeated.clear();
    await Promise.all(this.#running.values());
  }

  #advance(): void {
    for (const [name, task] of this.#queued) {
      if (this.#running.size >= this.#concurrency) return;
      this.#queued.delete(name);
      this.#run(name, task);
    }
  }

  #run(name: string, task: () => Promise<void>): void {
    const ended = task().then(() => {
      this.#running.delete(name);
      const again = this.#repeated.get(name);
      this.#repeated.delete(name);
      if (again !== undefined) this.#run(name, again);
      else this.#advance();
    });
    this.#running.set(name, ended);
  }
}
