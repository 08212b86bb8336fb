import type { ExecutorContext } from './ports.ts';

/** The heartbeat of a running attempt. */
export interface Heartbeat {
  /** Sets the progress that a later heartbeat carries. */
  report(progress: string): void;
  stop(): void;
}

/**
 * Sends heartbeats for an attempt until it is stopped. A heartbeat by itself changes no card. One carries progress, which changes the
 * card in the thread, at most once in `progressMs` and while updates are left; only the latest progress is kept.
 */
export function startHeartbeat(
  { store, timing, updates, logger }: Pick<ExecutorContext, 'store' | 'timing' | 'updates' | 'logger'>,
  requestId: string,
  attempt: string,
): Heartbeat {
  let latest = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  const takeProgress = async (): Promise<string> => {
    const now = performance.now();
    if (latest === '' || now - shownAt < timing.progressMs) return '';
    shownAt = now;
    if (!(await updates.takeProgress())) return '';
    const progress = latest;
    latest = '';
    return progress;
  };
  const send = async (): Promise<void> => {
    try {
      await store.heartbeat(requestId, attempt, timing.heartbeatTimeoutMs, await takeProgress());
    } catch (err) {
      logger.warn({ requestId, err }, 'heartbeat failed');
    }
  };
  const timer = setInterval(() => void send(), timing.heartbeatMs);
  return {
    report: (text) => {
      latest = text;
    },
    stop: () => clearInterval(timer),
  };
}
