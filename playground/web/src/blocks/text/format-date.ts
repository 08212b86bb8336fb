/** Time and time zone of the reader. */
export interface Reader {
  /** In milliseconds. */
  readonly now: number;
  readonly timeZone?: string;
}

const DAY = 86_400_000;

/** Formats Slack's date tokens, such as `{date_short_pretty} at {time}`; undefined for an unknown format. */
export function formatDate(timestamp: number, format: string, reader: Reader): string | undefined {
  const at = timestamp * 1000;
  if (Number.isNaN(new Date(at).getTime())) return undefined;
  let isKnown = true;
  const text = format.replace(/\{([a-z_]+)\}/g, (whole, token: string) => {
    const formatted = formatToken(token, at, reader);
    if (formatted === undefined) isKnown = false;
    return formatted ?? whole;
  });
  return isKnown ? text.charAt(0).toUpperCase() + text.slice(1) : undefined;
}

function formatToken(token: string, at: number, reader: Reader): string | undefined {
  const pretty = token.endsWith('_pretty') ? relativeDay(at, reader) : undefined;
  if (pretty !== undefined) return pretty;
  const part = partsOf(at, reader);
  switch (token.replace(/_pretty$/, '')) {
    case 'date_num':
      return `${part('year')}-${part('month', '2-digit')}-${part('day', '2-digit')}`;
    case 'date':
      return `${part('month', 'long')} ${ordinal(part('day'))}, ${part('year')}`;
    case 'date_short':
      return `${part('month', 'short')} ${part('day')}, ${part('year')}`;
    case 'date_slash':
      return `${part('month', '2-digit')}/${part('day', '2-digit')}/${part('year')}`;
    case 'date_long':
    case 'date_long_full':
    case 'day_divider':
      return `${part('weekday', 'long')}, ${part('month', 'long')} ${ordinal(part('day'))}, ${part('year')}`;
    case 'time':
      return timeOf(at, reader, false);
    case 'time_secs':
      return timeOf(at, reader, true);
    case 'ago':
      return ago(at, reader.now);
    default:
      return undefined;
  }
}

type PartStyle = 'numeric' | '2-digit' | 'short' | 'long';

function partsOf(at: number, { timeZone }: Reader) {
  return (name: 'year' | 'month' | 'day' | 'weekday', style: PartStyle = 'numeric'): string => {
    const format = new Intl.DateTimeFormat('en-US', {
      [name]: style,
      ...(timeZone !== undefined && { timeZone }),
    });
    return format.formatToParts(at).find((part) => part.type === name)?.value ?? '';
  };
}

function timeOf(at: number, { timeZone }: Reader, withSeconds: boolean): string {
  return new Intl.DateTimeFormat('en-US', {
    hour: 'numeric',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
    ...(timeZone !== undefined && { timeZone }),
  })
    .format(at)
    .replace(/\s/g, ' ');
}

function relativeDay(at: number, reader: Reader): string | undefined {
  const day = (moment: number) => {
    const part = partsOf(moment, reader);
    return Date.UTC(Number(part('year')), Number(part('month')) - 1, Number(part('day')));
  };
  const days = Math.round((day(at) - day(reader.now)) / DAY);
  return new Map([
    [-1, 'yesterday'],
    [0, 'today'],
    [1, 'tomorrow'],
  ]).get(days);
}

function ordinal(day: string): string {
  const number = Number(day);
  const isTeen = number >= 11 && number <= 13;
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${day}${ending}`;
}

/** From this share of a unit on, a distance is told in that unit: what has just begun to wait for a day expires in 1 day. */
const NEARLY = 0.95;

function ago(at: number, now: number): string {
  const units: [Intl.RelativeTimeFormatUnit, number][] = [
    ['year', 365 * DAY],
    ['month', 30 * DAY],
    ['day', DAY],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1000],
  ];
  const distance = at - now;
  const [unit, length] = units.find(([, size]) => Math.abs(distance) >= size * NEARLY) ?? ['second', 1000];
  return new Intl.RelativeTimeFormat('en-US').format(Math.round(distance / length), unit);
}
