import type { BotContext } from '../context.ts';

/** The heartbeat of a running attempt. */
export interface Heartbeat {
  /** Sets the progress that the next heartbeat carries. */
  report(progress: string): void;
  stop(): void;
}

/** Sends heartbeats for an attempt until it is stopped. */
export function startHeartbeat(
  { store, timing, logger }: Pick<BotContext, 'store' | 'timing' | 'logger'>,
  requestId: string,
  attempt: string,
): Heartbeat {
  let progress = '';
  const timer = setInterval(() => {
    store
      .heartbeat(requestId, attempt, timing.heartbeatTimeoutMs, progress)
      .catch((err) => logger.warn({ requestId, err }, 'heartbeat failed'));
    progress = '';
  }, timing.heartbeatMs);
  return {
    report: (text) => {
      progress = text;
    },
    stop: () => clearInterval(timer),
  };
}
