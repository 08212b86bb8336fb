/** The time of day as a condition sees it; CEL's integers are bigints. */
export interface LocalTime {
  /** Such as 2026-11-16. */
  readonly date: string;
  /** Such as monday. */
  readonly weekday: string;
  readonly hour: bigint;
  readonly minute: bigint;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the date and the time of day in a time zone; throws if there is no such zone. */
export function localTime(moment: Date, timeZone: string): LocalTime {
  const parts = new Map(
    formatFor(timeZone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? '';
  return {
    date: `${part('year')}-${part('month')}-${part('day')}`,
    weekday: part('weekday').toLowerCase(),
    hour: BigInt(part('hour')),
    minute: BigInt(part('minute')),
  };
}

/** Returns the moment at which the clocks of a time zone show a date and a time of day. */
export function momentAt(date: string, hour: number, minute: number, timeZone: string): number {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const wanted = Date.UTC(year, month - 1, day, hour, minute);
  let moment = wanted;
  // The offset of the first guess may be that of another day; the second is that of the moment itself.
  for (let tries = 0; tries < 2; tries += 1) moment += wanted - shownAt(moment, timeZone);
  return moment;
}

/** Returns what the clocks of a time zone show at a moment, as if it were UTC. */
function shownAt(moment: number, timeZone: string): number {
  const { date, hour, minute } = localTime(new Date(moment), timeZone);
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return Date.UTC(year, month - 1, day, Number(hour), Number(minute));
}

const DAY_MS = 86_400_000;

/** Returns the date on which the day, the week or the month of a moment begins in a time zone; a week begins on Monday. */
export function startOfPeriod(
  { unit, timeZone }: { readonly unit: 'day' | 'week' | 'month'; readonly timeZone: string },
  moment: Date,
): string {
  const { date } = localTime(moment, timeZone);
  if (unit === 'day') return date;
  if (unit === 'month') return `${date.slice(0, 7)}-01`;
  const day = new Date(`${date}T00:00:00Z`);
  return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

/** Tells whether this machine knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatFor(name);
    return true;
  } catch {
    return false;
  }
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      weekday: 'long',
      hour: '2-digit',
      minute: '2-digit',
    });
  formats.set(timeZone, known);
  return known;
}

/** The hours in which a policy sends no direct messages and no reminders. */
export interface QuietHours {
  /** Minutes since midnight; `from` may be later than `to`, and then they last over midnight. */
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
}

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
