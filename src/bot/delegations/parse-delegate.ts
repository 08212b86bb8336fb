import { localTime, momentAt } from '../../tools/gate/local-time.ts';

/** A delegation as somebody wrote it, or the part that cannot be read. */
export type ParsedDelegate =
  | { readonly ok: true; readonly to: string; readonly until: number; readonly reason: string }
  | { readonly ok: false; readonly problem: 'person' | 'time' };

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

const PERSON = /^(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|([UW][A-Z0-9]{6,}))$/;
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads `@Bob until Friday [reason]`: a mention or an id, then a day, a date or a time in the person's time zone, or `for 3 days`. */
export function parseDelegate(text: string, now: Date, timeZone: string): ParsedDelegate {
  const [person = '', ...rest] = text.trim().split(/\s+/);
  const [, mentioned, written] = PERSON.exec(person) ?? [];
  const to = mentioned ?? written;
  if (to === undefined) return { ok: false, problem: 'person' };
  const end = parseEnd(rest, now, timeZone);
  if (end === undefined) return { ok: false, problem: 'time' };
  return { ok: true, to, until: end.until, reason: rest.slice(end.words).join(' ') };
}

interface End {
  readonly until: number;
  /** The number of words that say it. */
  readonly words: number;
}

function parseEnd(words: readonly string[], now: Date, timeZone: string): End | undefined {
  const [lead = '', first = '', second = ''] = words.map((word) => word.toLowerCase());
  if (lead === 'for') return parseLength(first, second, now);
  if (lead !== 'until' && lead !== 'till') return undefined;
  const clock = CLOCK.exec(first);
  if (clock !== null) return { until: nextTime(clock, now, timeZone), words: 2 };
  const date = parseDay(first, now, timeZone);
  if (date === undefined) return undefined;
  const time = CLOCK.exec(second);
  // A day lasts until its end.
  if (time === null) return { until: momentAt(dayAfter(date), 0, 0, timeZone), words: 2 };
  return { until: momentAt(date, Number(time[1]), Number(time[2]), timeZone), words: 3 };
}

function parseLength(count: string, unit: string, now: Date): End | undefined {
  const ms = UNITS[unit.replace(/s$/, '')];
  const number = count === 'a' || count === 'an' ? 1 : Number(count);
  if (ms === undefined || !Number.isInteger(number) || number < 1) return undefined;
  return { until: now.getTime() + number * ms, words: 3 };
}

/** Returns the next moment at which the clock shows this time. */
function nextTime([, hour, minute]: readonly string[], now: Date, timeZone: string): number {
  const { date } = localTime(now, timeZone);
  const today = momentAt(date, Number(hour), Number(minute), timeZone);
  return today > now.getTime() ? today : momentAt(dayAfter(date), Number(hour), Number(minute), timeZone);
}

function parseDay(word: string, now: Date, timeZone: string): string | undefined {
  const { date, weekday } = localTime(now, timeZone);
  if (word === 'today') return date;
  if (word === 'tomorrow') return dayAfter(date);
  if (DATE.test(word)) return isDate(word) ? word : undefined;
  const wanted = word.length < 3 ? -1 : DAYS.findIndex((day) => day.startsWith(word));
  return wanted < 0 ? undefined : dayAfter(date, (wanted - DAYS.indexOf(weekday) + 7) % 7);
}

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function dayAfter(date: string, days = 1): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
