import { type Logger as BoltLogger, LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/** Lets Bolt write to the one log there is. */
export function toBoltLogger(logger: Logger): BoltLogger {
  const log = logger.child({ part: 'slack' });
  const words = (parts: unknown[]) =>
    parts.map((part) => (part instanceof Error ? part.message : String(part))).join(' ');
  return {
    debug: (...parts) => log.debug(words(parts)),
    info: (...parts) => log.info(words(parts)),
    warn: (...parts) => log.warn(words(parts)),
    error: (...parts) => log.error(words(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  };
}
