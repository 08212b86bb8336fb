/** Runs tasks a few at a time, each name once at a time; a task must not throw. */
export class Lane {
  readonly #width: number;
  readonly #longest: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => Promise<void>>();

  constructor(width: number, longest: number) {
    this.#width = width;
    this.#longest = longest;
  }

  /** Takes a task unless it is already here or the lane is full. */
  offer(name: string, task: () => Promise<void>): void {
    if (this.#running.has(name) || this.#waiting.has(name) || this.#waiting.size >= this.#longest) return;
    this.#waiting.set(name, task);
    this.#advance();
  }

  /** Forgets what has not begun and resolves when the rest has ended. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #advance(): void {
    for (const [name, task] of this.#waiting) {
      if (this.#running.size >= this.#width) return;
      this.#waiting.delete(name);
      const ended = task().then(() => {
        this.#running.delete(name);
        this.#advance();
      });
      this.#running.set(name, ended);
    }
  }
}
