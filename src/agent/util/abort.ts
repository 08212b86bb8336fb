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

/** The reason of an abort because the process stops: another one may continue the work. */
export class HandOverError extends Error {
  constructor() {
    super('Countersign is stopping');
  }
}

/** The first wait before a retry, and the longest one. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns the wait after a number of failures in a row. It doubles up to the longest wait, and chance shortens it by up to half,
 * so that many clients do not retry at the same moment.
 */
export function backOffMs(
  failures: number,
  { firstMs, longestMs }: BackOffLimits,
  random: () => number = Math.random,
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.round(full * (1 - random() / 2));
}

/** Returns the result of asynchronous work, or `undefined` when the time limit comes first; the work itself goes on. */
export async function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
