import { DURATION, durationMs } from '../../tools/manifest/schema/values.ts';
import { UsageError } from './errors.ts';

/** Parses the value of an option: a date, a time or an age. */
export function parseTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (DURATION.test(text)) return Date.now() - durationMs(text);
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new UsageError(`${option} needs a date, a time or an age, and "${text}" is none`);
  return time;
}
