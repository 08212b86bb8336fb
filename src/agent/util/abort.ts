import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Derives a signal that fires with the first of its sources, until `end`. `AbortSignal.any` would keep the memory of every signal
 * that somebody listens to as long as its sources live, and the model's client never stops listening.
 */
export function followSignals(sources: readonly AbortSignal[]): { signal: AbortSignal; end: () => void } {
  const own = new AbortController();
  const ended = new AbortController();
  // Many calls may follow one signal at a time; Node would warn of a leak at the eleventh.
  setMaxListeners(0, ...sources);
  for (const source of sources) {
    if (source.aborted) own.abort(source.reason);
    source.addEventListener('abort', () => own.abort(source.reason), { signal: ended.signal });
  }
  return { signal: own.signal, end: () => ended.abort() };
}

/** Derives a signal that also fires when `timeoutMs` have passed; `end` stops its clock. */
export function limitTime(
  signal: AbortSignal,
  timeoutMs: number | undefined,
): { signal: AbortSignal; isOver: () => boolean; end: () => void } {
  if (timeoutMs === undefined) return { signal, isOver: () => false, end: () => {} };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('The time is over')), timeoutMs);
  const both = followSignals([signal, limit.signal]);
  return {
    signal: both.signal,
    isOver: () => limit.signal.aborted && !signal.aborted,
    end: () => {
      clearTimeout(timer);
      both.end();
    },
  };
}

/** Settles with the work, or rejects a grace period after the signal fires, even if the work ignores the signal. */
export function orAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  grace: () => number | undefined = () => 0,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      const graceMs = grace() ?? 0;
      if (graceMs === 0) reject(signal.reason);
      else void sleep(graceMs, undefined, { ref: false }).then(() => reject(signal.reason));
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The reason of an abort that a person asked for; work that somebody else could continue ends for good. */
export class StoppedError extends Error {
  constructor() {
    super('stopped by a person');
  }
}
