import { AsyncLocalStorage } from 'node:async_hooks';
import type { FinishReason, Interrupt, Message, NestedRun } from '../messages.ts';
import type { Resume } from '../replies.ts';
import { Transcript } from '../transcript.ts';
import { followSignals } from '../util/abort.ts';

/** Shared by all copies of this file: a tool from an admin's folder may bring its own. */
const storage = sharedStorage();

function sharedStorage(): AsyncLocalStorage<RunningCall> {
  const shared: { [key: symbol]: AsyncLocalStorage<RunningCall> | undefined } = globalThis;
  const key = Symbol.for('countersign.running-call');
  const found = shared[key] ?? new AsyncLocalStorage<RunningCall>();
  shared[key] = found;
  return found;
}

/** Returns the tool call that the current code runs inside; a `generate` in it pauses the outer loop with its own. */
export function currentCall(): RunningCall | undefined {
  return storage.getStore();
}

/** Thrown through a tool when a `generate` inside it pauses, so that the outer call pauses too. */
class NestedInterrupt extends Error {
  constructor() {
    super('A generate() inside this tool is paused; let this exception pass');
  }
}

/** The options with which a nested `generate` starts, or continues from an earlier run of its tool. */
export interface NestedOptions {
  readonly signal: AbortSignal;
  readonly prompt?: undefined;
  readonly messages?: readonly Message[];
  readonly resume?: Resume | undefined;
}

/**
 * A tool call with the `generate` runs inside it, in the order of their start. After a pause the tool's function runs again from its
 * top; runs that had finished are returned from the record and do not run twice.
 */
export class RunningCall {
  readonly #signal: AbortSignal;
  readonly #before: readonly NestedRun[];
  readonly #replies: Resume;
  readonly #runs: (NestedRun | undefined)[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  #hasPaused = false;

  constructor(signal: AbortSignal, before: readonly NestedRun[] = [], replies: Resume = {}) {
    this.#signal = signal;
    this.#before = before;
    this.#replies = replies;
  }

  /** Runs the tool's function inside this call. */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return storage.run(this, async () => work());
  }

  get hasPaused(): boolean {
    return this.#hasPaused;
  }

  /** Runs a `generate` inside this call: `loop` runs its steps, `finished` rebuilds the response of a run that had finished. */
  generate<Response extends NestedRun>(
    signal: AbortSignal | undefined,
    loop: (options: NestedOptions) => Promise<Response>,
    finished: (messages: readonly Message[], reason: Exclude<FinishReason, 'model-error'>) => Response,
  ): Promise<Response> {
    const place = this.#runs.push(undefined) - 1;
    const before = this.#before[place];
    const both = followSignals(signal === undefined ? [this.#signal] : [this.#signal, signal]);
    const run = async (): Promise<Response> => {
      const response = await this.#continue(before, both.signal, loop, finished);
      const { finishReason, messages } = response;
      this.#runs[place] = { finishReason, messages };
      if (finishReason !== 'interrupted') return response;
      this.#hasPaused = true;
      throw new NestedInterrupt();
    };
    return this.#track(run().finally(both.end));
  }

  /** Waits for the runs that are still in progress, and returns the record of all; `undefined` if there were none. */
  async finishedRuns(): Promise<NestedRun[] | undefined> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    if (this.#runs.length === 0) return undefined;
    return this.#runs.map(
      (run, place) => run ?? this.#before[place] ?? { finishReason: 'aborted', messages: [] },
    );
  }

  #continue<Response extends NestedRun>(
    before: NestedRun | undefined,
    signal: AbortSignal,
    loop: (options: NestedOptions) => Promise<Response>,
    finished: (messages: readonly Message[], reason: Exclude<FinishReason, 'model-error'>) => Response,
  ): Response | Promise<Response> {
    if (before === undefined || before.messages.length === 0) return loop({ signal });
    const { finishReason, messages } = before;
    switch (finishReason) {
      case 'interrupted':
        return loop({ signal, prompt: undefined, messages, resume: repliesTo(before, this.#replies) });
      case 'aborted':
      case 'model-error':
        return loop({ signal, prompt: undefined, messages, resume: undefined });
      default:
        return finished(messages, finishReason);
    }
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#pending.add(work);
    const forget = () => this.#pending.delete(work);
    work.then(forget, forget);
    return work;
  }
}

function repliesTo(run: NestedRun, replies: Resume): Resume {
  const waiting = new Set(Transcript.of(run.messages).interrupts.map(({ id }) => id));
  const isOwn = (reply: { readonly metadata: { readonly interruptId: string } }) =>
    waiting.has(reply.metadata.interruptId);
  return {
    respond: replies.respond?.filter(isOwn),
    restart: replies.restart?.filter(isOwn),
    close: replies.close?.filter(isOwn),
  };
}

/** Returns the innermost calls that wait inside a call, however deep; none if the call itself waits. */
export function waitingInside(interrupt: Interrupt): Interrupt[] {
  return interruptsInside(interrupt).flatMap((inner) => {
    const deeper = waitingInside(inner);
    return deeper.length === 0 ? [inner] : deeper;
  });
}

/** Returns the interrupts inside a call that paused because a `generate` in its tool did; answer them with `restartInside`. */
export function interruptsInside(interrupt: Interrupt): Interrupt[] {
  return (interrupt.nested ?? [])
    .filter((run) => run.finishReason === 'interrupted')
    .flatMap((run) => Transcript.of(run.messages).interrupts);
}
