import { AsyncLocalStorage } from 'node:async_hooks';
import type { NestedRun } from './messages.ts';
import type { Resume } from './replies.ts';

interface Enclosure {
  readonly storage: AsyncLocalStorage<EnclosingCall>;
  inside: number;
}

/** A tool loaded from an admin's folder may bring its own copy of this file; all copies must find the same call. */
const enclosure = sharedEnclosure();

function sharedEnclosure(): Enclosure {
  const shared: { [key: symbol]: Enclosure | undefined } = globalThis;
  const key = Symbol.for('countersign.enclosing-call');
  const found = shared[key] ?? { storage: new AsyncLocalStorage<EnclosingCall>(), inside: 0 };
  shared[key] = found;
  return found;
}

/**
 * The tool call that the running code is inside of. A `generate` called there finds it, and so pauses the outer loop
 * without its tool's author having to pass anything on.
 */
export function enclosingCall(): EnclosingCall | undefined {
  return enclosure.storage.getStore();
}

/** Does a tool's work inside its call, to the end of the work, whoever may have stopped waiting for it. */
export async function runEnclosed<Result>(
  call: EnclosingCall,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  enclosure.inside += 1;
  try {
    return await enclosure.storage.run(call, async () => work());
  } finally {
    enclosure.inside -= 1;
    // While the storage is in use every promise of the process pays for it, those of the model's answers most of all.
    if (enclosure.inside === 0) enclosure.storage.disable();
  }
}

/**
 * The `generate` calls inside one tool call, in the order they were made. After a pause the tool's function runs again
 * from its top; what had finished before then is given back from here and not done twice.
 */
export class EnclosingCall {
  readonly signal: AbortSignal;
  readonly replies: Resume;
  readonly #before: readonly NestedRun[];
  readonly #runs: (NestedRun | undefined)[] = [];
  readonly #underway = new Set<Promise<unknown>>();
  #paused = false;

  constructor(signal: AbortSignal, before: readonly NestedRun[] = [], replies: Resume = {}) {
    this.signal = signal;
    this.#before = before;
    this.replies = replies;
  }

  /** Opens the place of the next inner run and gives what it had done before the pause, if anything. */
  open(): { readonly place: number; readonly before: NestedRun | undefined } {
    const place = this.#runs.push(undefined) - 1;
    return { place, before: this.#before[place] };
  }

  record(place: number, run: NestedRun): void {
    this.#runs[place] = run;
    if (run.finishReason === 'interrupted') this.#paused = true;
  }

  track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underway.add(work);
    const forget = () => this.#underway.delete(work);
    work.then(forget, forget);
    return work;
  }

  get hasPaused(): boolean {
    return this.#paused;
  }

  /** Waits for the inner runs that are still under way, and gives what all of them did; `undefined` if there were none. */
  async finishedRuns(): Promise<NestedRun[] | undefined> {
    while (this.#underway.size > 0) await Promise.allSettled(this.#underway);
    if (this.#runs.length === 0) return undefined;
    return this.#runs.map(
      (run, place) => run ?? this.#before[place] ?? { finishReason: 'aborted', messages: [] },
    );
  }
}
