/** Timers that are cancelled together; after that none of them fires and no pause ends. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();

  /** Runs the action later; the returned function cancels it and returns whether it was still pending. */
  after(milliseconds: number, action: () => void): () => boolean {
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      action();
    }, milliseconds);
    this.#running.add(timer);
    return () => {
      clearTimeout(timer);
      return this.#running.delete(timer);
    };
  }

  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(milliseconds, resolve);
    });
  }

  cancelAll(): void {
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
