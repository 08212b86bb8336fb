import { useSyncExternalStore } from 'react';

/** The reader's own time zone, the only one on the page. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const TICK_MS = 10_000;
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];

let now = Date.now();

/** Returns the time, which moves on by itself; texts that are relative to it stay true. */
export function useNow(): number {
  return useSyncExternalStore(tick, () => now);
}

function tick(listener: () => void): () => void {
  now = Date.now();
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** Writes the distance of a time: `12 min ago`, `in 7 h`; of a distant one the day. */
export function relativeText(at: number, to: number): string {
  const away = Math.abs(at - to);
  const isPast = at <= to;
  if (away < MINUTE_MS) return isPast ? 'just now' : 'in less than a minute';
  if (away >= 7 * DAY_MS)
    return `${isPast ? '' : 'on '}${new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium' })}`;
  const [size, unit] =
    away < HOUR_MS ? [MINUTE_MS, 'min'] : away < 2 * DAY_MS ? [HOUR_MS, 'h'] : [DAY_MS, 'days'];
  const text = `${Math.floor(away / size)} ${unit}`;
  return isPast ? `${text} ago` : `in ${text}`;
}

function clockText(date: Date): string {
  return date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

interface TimeProps {
  readonly at: number;
}

/** A time by its distance; who points at it sees it exactly. */
export function Ago({ at }: TimeProps) {
  return <Time at={at}>{relativeText(at, useNow())}</Time>;
}

/** A time of the day, with the day if it is another one. */
export function Clock({ at }: TimeProps) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(useNow()).toDateString();
  return (
    <Time at={at}>
      {isToday
        ? clockText(date)
        : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
    </Time>
  );
}

/** A time as day and time of the day. */
export function Moment({ at }: TimeProps) {
  return (
    <Time at={at}>{new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}</Time>
  );
}

function Time({ at, children }: TimeProps & { readonly children: string }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>;
  const exact = date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });
  return (
    <time dateTime={date.toISOString()} title={exact}>
      {children}
    </time>
  );
}

/** Returns when a day begins in the reader's time zone, some days later, as an address names it; `undefined` if it is no day. */
export function dayStart(day: string, plus = 0): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  return Math.max(0, new Date(Number(year), Number(month) - 1, Number(date) + plus).getTime());
}
