import { localTime, momentAt } from './local-time.ts';

/** The hours in which a policy sends no direct messages and no reminders. */
export interface QuietHours {
  /** Minutes since midnight; `from` may be later than `to`, and then they last over midnight. */
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
}

const DAY_MS = 86_400_000;

/** Returns when the quiet hours end that a moment is in; `undefined` if it is in none. */
export function quietUntil({ from, to, timeZone }: QuietHours, moment: Date): number | undefined {
  const { date, hour, minute } = localTime(moment, timeZone);
  const time = 60 * Number(hour) + Number(minute);
  const isQuiet = from < to ? time >= from && time < to : time >= from || time < to;
  if (!isQuiet) return undefined;
  const day =
    time < to ? date : new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return momentAt(day, Math.floor(to / 60), to % 60, timeZone);
}
