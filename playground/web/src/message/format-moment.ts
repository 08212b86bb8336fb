const TIME = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric' });
const FULL = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'medium' });
const DAY_MS = 86_400_000;

/** The moment of a message's ts. */
export function momentOf(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

/** The time of day, such as "3:04 PM". */
export function formatTime(moment: Date): string {
  return TIME.format(moment);
}

/** Day and time in full. */
export function formatFull(moment: Date): string {
  return FULL.format(moment);
}

/** Formats a day relative to `now`: "Today", "Yesterday", else the date. */
export function formatDay(moment: Date, now: Date): string {
  if (isSameDay(moment, now)) return 'Today';
  return isSameDay(moment, new Date(now.getTime() - DAY_MS)) ? 'Yesterday' : DAY.format(moment);
}

/** Formats a relative time without seconds. */
export function formatAgo(moment: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - moment.getTime()) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`;
  return `${formatDay(moment, now)} at ${formatTime(moment)}`;
}

/** True when two moments are on the same local day. */
export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
