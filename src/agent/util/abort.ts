import { setTimeout as sleep } from 'node:timers/promises';

/** Derives a signal that also fires when `timeoutMs` have passed; `end` stops its clock. */
export function limitTime(
  signal: AbortSignal,
  timeoutMs: number | undefined,
): { signal: AbortSignal; isOver: () => boolean; end: () => void } {
  if (timeoutMs === undefined) return { signal, isOver: () => false, end: () => {} };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('The time is over')), timeoutMs);
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    isOver: () => limit.signal.aborted && !signal.aborted,
    end: () => clearTimeout(timer),
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
