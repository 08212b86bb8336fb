import type { BotParts } from './bot-parts.ts';

/** The signs of life of an attempt. */
export interface Beating {
  /** What people are told of it with the next one. */
  tell(progress: string): void;
  stop(): void;
}

/** Lets the record know that an attempt is alive, until it is told to stop. */
export function keepBeating(
  { store, timing, logger }: Pick<BotParts, 'store' | 'timing' | 'logger'>,
  requestId: string,
  attempt: string,
): Beating {
  let progress = '';
  const beating = setInterval(() => {
    store
      .beat(requestId, attempt, timing.silenceMs, progress)
      .catch((err) => logger.warn({ requestId, err }, 'no beat'));
    progress = '';
  }, timing.beatMs);
  return {
    tell: (words) => {
      progress = words;
    },
    stop: () => clearInterval(beating),
  };
}
