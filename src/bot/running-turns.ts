/** The turns that this process is working on, so that Stop reaches them at once. */
export class RunningTurns {
  readonly #running = new Map<string, AbortController>();

  begin(threadId: string): AbortController {
    const controller = new AbortController();
    this.#running.set(threadId, controller);
    return controller;
  }

  end(threadId: string, controller: AbortController): void {
    if (this.#running.get(threadId) === controller) this.#running.delete(threadId);
  }

  /** Stops the turn of a thread; `false` when it is not running here. */
  stop(threadId: string): boolean {
    const controller = this.#running.get(threadId);
    controller?.abort(new Error('stopped by a person'));
    return controller !== undefined;
  }
}
