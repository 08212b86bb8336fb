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
      await withTimeout(deadline - Date.now(), Promise.all(this.#running));
    }
  }
}

/** Returns the value of a promise, or `undefined` after the time limit. */
export async function withTimeout<Value>(
  timeoutMs: number,
  work: Promise<Value>,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
