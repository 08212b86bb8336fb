const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration as `3:12` or `1:03:12`, and in days from two days on; never negative. */
export function formatDuration(milliseconds: number): string {
  const rest = Math.max(0, milliseconds);
  if (rest >= 2 * DAY_MS) return `${Math.floor(rest / DAY_MS)} days`;
  const hours = Math.floor(rest / HOUR_MS);
  const minutes = Math.floor((rest % HOUR_MS) / MINUTE_MS);
  const seconds = twoDigits(Math.floor((rest % MINUTE_MS) / SECOND_MS));
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** The time of day of a moment, to the second, by this computer's clock. */
export function formatClock(at: number): string {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return String(at);
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(twoDigits).join(':');
}

const TIMER_LABELS: Readonly<Record<string, string>> = {
  expire: 'expires',
  remind: 'reminder',
  escalate: 'escalates',
  recover: 'heartbeat times out',
  purge: 'deleted',
};

/** Describes a timer, such as `expires in 3:12`. */
export function formatTimer(
  { kind, at }: { readonly kind: string; readonly at: number },
  now: number,
): string {
  const what = TIMER_LABELS[kind] ?? kind;
  return at > now ? `${what} in ${formatDuration(at - now)}` : `${what} now`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
