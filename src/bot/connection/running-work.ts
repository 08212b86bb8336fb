/** The work that goes on now, so that whoever closes something can wait for it. */
export class RunningWork {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts a piece of work in until it has ended, in whatever way. */
  add(work: Promise<unknown>): void {
    const counted = work
      .catch(() => {})
      .finally(() => {
        this.#running.delete(counted);
      });
    this.#running.add(counted);
  }

  /** Resolves when nothing is left, also of what began meanwhile, or when the time is over. */
  async idle(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (this.#running.size > 0 && Date.now() < deadline) {
      await within(deadline - Date.now(), Promise.all(this.#running));
    }
  }
}

/** The value of a promise, or `undefined` when it takes too long. */
export async function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
