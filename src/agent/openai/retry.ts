import { setTimeout as sleep } from 'node:timers/promises';

export interface RetrySettings {
  /** The most repetitions of a failed attempt. */
  readonly maxRetries: number;
  /** The first wait; each further wait is twice as long, up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called before each repetition. */
  readonly onRetry?: (() => void) | undefined;
}

export interface FailedAttempt {
  readonly retryable: boolean;
  /** The wait that the other side asked for. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Repeats an attempt while its failures are retryable, after the wait that was asked for or else an exponential one. A requested
 * wait above `longestWaitMs` ends the retries: only the caller can decide to wait that long. The signal ends a wait at once.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  classify: (error: unknown) => FailedAttempt,
  settings: RetrySettings,
): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const { retryable, retryAfterMs } = classify(error);
      const wait = retryAfterMs ?? backOff(retries, settings);
      if (!retryable || retries >= settings.maxRetries || wait > settings.longestWaitMs) throw error;
      settings.onRetry?.();
      await sleep(wait, undefined, settings.signal && { signal: settings.signal });
    }
  }
}

function backOff(retries: number, { firstWaitMs, longestWaitMs }: RetrySettings): number {
  const full = Math.min(firstWaitMs * 2 ** retries, longestWaitMs);
  return full * (0.75 + Math.random() * 0.25);
}
