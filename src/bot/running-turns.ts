import { RunningWork } from './connection/running-work.ts';

/** What one process takes on by itself at a time; in a rush people's clicks come first, and the rest is for whoever is woken. */
const MOST_HERE = 64;

/** The turns that this process is working on, so that Stop reaches them at once, and what it went on with by itself. */
export class RunningTurns {
  readonly #running = new Map<string, AbortController>();
  readonly #here = new Map<string, Promise<void>>();
  readonly #work = new RunningWork();
  #reserved = 0;

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

  /** Keeps a place for something to go on with, until the function that it gives is called; `undefined` if there is none left. */
  reserve(): (() => void) | undefined {
    if (this.#here.size + this.#reserved >= MOST_HERE) return undefined;
    this.#reserved += 1;
    return () => {
      this.#reserved -= 1;
    };
  }

  /** Goes on with a thread beside whatever else happens here; a failure must have been told to the log already. */
  goOn(threadId: string, work: Promise<void>): void {
    const here: Promise<void> = work
      .catch(() => {})
      .finally(() => {
        if (this.#here.get(threadId) === here) this.#here.delete(threadId);
      });
    this.#here.set(threadId, here);
    this.#work.add(here);
  }

  /** What this process went on with in a thread, if it does so now. */
  workIn(threadId: string): Promise<void> | undefined {
    return this.#here.get(threadId);
  }

  /** Resolves when this process has ended all that it went on with, or when the time is over. */
  idle(withinMs: number): Promise<void> {
    return this.#work.idle(withinMs);
  }
}
