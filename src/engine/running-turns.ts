import { HandOverError, StoppedError } from '../agent/util/abort.ts';
import { RunningWork } from '../agent/util/running-work.ts';
import type { ClaimedTurn } from '../store/port/values.ts';

/** The most turns and actions that a process starts by itself at a time. Above that, work is left to woken workers. */
const MAX_IN_BACKGROUND = 64;

/** The turns and actions that run in this process, so that Stop reaches them at once and a shutdown waits for them. */
export class RunningTurns {
  readonly #controllers = new Map<string, { readonly token: string; readonly controller: AbortController }>();
  readonly #actions = new Map<string, AbortController>();
  readonly #requesters = new Map<string, readonly string[]>();
  readonly #inBackground = new Map<string, Promise<void>>();
  readonly #work = new RunningWork();
  readonly #handOver = new AbortController();
  #reserved = 0;

  /** Fires when this process stops and other processes are to continue its turns. */
  get handOver(): AbortSignal {
    return this.#handOver.signal;
  }

  /** Lets every running turn end at its next step, and no new effect start. */
  handOverAll(): void {
    this.#handOver.abort();
  }

  /** Tells the approved actions that run here to stop, because this process is about to end. */
  stopActions(): void {
    for (const controller of this.#actions.values()) controller.abort(new HandOverError());
  }

  /** Tells an approved action to stop on a person's request; returns `false` if it does not run here, or takes no signal. */
  stopAction(requestId: string): boolean {
    const controller = this.#actions.get(requestId);
    controller?.abort(new StoppedError());
    return controller !== undefined;
  }

  /** Returns the signal of an approved action, until its `end`. */
  beginAction(requestId: string): { readonly signal: AbortSignal; readonly end: () => void } {
    const controller = new AbortController();
    this.#actions.set(requestId, controller);
    return { signal: controller.signal, end: () => void this.#actions.delete(requestId) };
  }

  begin({ threadId, token }: Pick<ClaimedTurn, 'threadId' | 'token'>): AbortController {
    const controller = new AbortController();
    this.#controllers.set(threadId, { token, controller });
    return controller;
  }

  end(threadId: string, controller: AbortController): void {
    if (this.#controllers.get(threadId)?.controller !== controller) return;
    this.#controllers.delete(threadId);
    this.#requesters.delete(threadId);
  }

  /** Notes for whom the running turn of a thread works. */
  setRequesters(threadId: string, requesters: readonly string[]): void {
    if (this.#controllers.has(threadId)) this.#requesters.set(threadId, requesters);
  }

  /** Lists the requesters of the turn that runs here in a thread. */
  requestersIn(threadId: string): readonly string[] {
    return this.#requesters.get(threadId) ?? [];
  }

  /** Stops the running turn of a thread, or only this one; returns `false` if it does not run here. */
  stop(threadId: string, token?: string): boolean {
    const turn = this.#controllers.get(threadId);
    if (turn === undefined || (token !== undefined && turn.token !== token)) return false;
    turn.controller.abort(new StoppedError());
    return true;
  }

  /** Reserves a place for background work and returns its release; `undefined` at the limit. */
  reserve(): (() => void) | undefined {
    if (this.#inBackground.size + this.#reserved >= MAX_IN_BACKGROUND) return undefined;
    this.#reserved += 1;
    return () => {
      this.#reserved -= 1;
    };
  }

  /** Runs work of a thread without a caller that waits for it. */
  runInBackground(threadId: string, work: () => Promise<void>, onError: (error: unknown) => void): void {
    const running: Promise<void> = work()
      .catch(onError)
      .finally(() => {
        if (this.#inBackground.get(threadId) === running) this.#inBackground.delete(threadId);
      });
    this.#inBackground.set(threadId, running);
    this.#work.add(running);
  }

  /** Returns the background work of a thread, if some is running. */
  workIn(threadId: string): Promise<void> | undefined {
    return this.#inBackground.get(threadId);
  }

  /** Lists the threads with a turn or an action that runs in this process. */
  threads(): readonly string[] {
    return [...new Set([...this.#controllers.keys(), ...this.#inBackground.keys()])];
  }

  /** Resolves when all background work has ended, or after the time limit. */
  idle(timeoutMs: number): Promise<void> {
    return this.#work.idle(timeoutMs);
  }
}
