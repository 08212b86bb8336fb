import { setTimeout as sleep } from 'node:timers/promises';

export interface RetrySettings {
  /** How often a failed attempt is repeated. */
  readonly maxRetries: number;
  /** The first pause; each further one is twice as long, up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What is known of a failure: whether another attempt makes sense, and how long the other side asked us to wait. */
export interface FailedAttempt {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
}

/**
 * Repeats an attempt while its failures allow it, waiting as long as was asked or else ever longer. A wait that was asked
 * for and is longer than `longestWaitMs` ends it: waiting less would be rude, and waiting more is the caller's to decide.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  judge: (error: unknown) => FailedAttempt,
  settings: RetrySettings,
): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const { retryable, retryAfterMs } = judge(error);
      const wait = retryAfterMs ?? backOff(retries, settings);
      if (!retryable || retries >= settings.maxRetries || wait > settings.longestWaitMs) throw error;
      await sleep(wait, undefined, settings.signal && { signal: settings.signal });
    }
  }
}

function backOff(retries: number, { firstWaitMs, longestWaitMs }: RetrySettings): number {
  const full = Math.min(firstWaitMs * 2 ** retries, longestWaitMs);
  return full * (0.75 + Math.random() * 0.25);
}
