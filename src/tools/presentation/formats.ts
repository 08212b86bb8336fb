import type { JsonValue } from '../../agent/json.ts';

/** A format with its arguments, such as `money('USD', 'cents')`. */
export interface FormatCall {
  readonly name: string;
  readonly args: readonly string[];
}

/** The outcome of a format: its text, or `undefined` if it cannot show the value exactly. */
type Format = (value: JsonValue, args: readonly string[]) => string | undefined;

const LOCALE = 'en-US';
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** Intl keeps at most this many digits after the point; a value with more is shown as it is. */
const MAX_FRACTION_DIGITS = 20;
const MAX_EXPONENT = 20;

type Digits = `${number}`;

function isDigits(text: string): text is Digits {
  return NUMBER.test(text);
}

/** Writes a number for Intl, shifted by powers of ten without rounding; `undefined` if it cannot be shown exactly. */
function decimal(value: JsonValue, shift = 0): Digits | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  if (!NUMBER.test(text) || text.length > 40) return undefined;
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const power = Number(exponent) + shift;
  const fraction = (mantissa.split('.')[1] ?? '').length;
  if (Math.abs(power) > MAX_EXPONENT || fraction - power > MAX_FRACTION_DIGITS) return undefined;
  const shifted = `${mantissa}e${power}`;
  return isDigits(shifted) ? shifted : undefined;
}

const numbers = new Map<string, Intl.NumberFormat>();

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const known =
    numbers.get(key) ??
    new Intl.NumberFormat(LOCALE, { maximumFractionDigits: MAX_FRACTION_DIGITS, ...options });
  numbers.set(key, known);
  return known;
}

/** Shows an amount of a currency in full; the second argument says whether it is in cents or in units. */
const money: Format = (value, [currency = 'USD', unit]) => {
  const style = { style: 'currency', currency } as const;
  const digits = new Intl.NumberFormat(LOCALE, style).resolvedOptions().maximumFractionDigits ?? 2;
  const amount = decimal(value, unit === 'cents' ? -digits : 0);
  return amount && numberFormat({ ...style, minimumFractionDigits: digits }).format(amount);
};

const number: Format = (value) => {
  const amount = decimal(value);
  return amount && numberFormat({}).format(amount);
};

/** Shows a share: 0.25 is 25%, and with `whole` 25 is 25%. */
const percent: Format = (value, [unit = 'share']) => {
  const share = decimal(value, unit === 'whole' ? -2 : 0);
  return share && numberFormat({ style: 'percent' }).format(share);
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Shows an ISO date or time, or a number of seconds or milliseconds since 1970, in UTC. */
const date: Format = (value, [unit = 'seconds']) => {
  if (typeof value === 'string' && DAY.test(value))
    return isDay(value) ? dayFormat.format(new Date(value)) : undefined;
  const scale = unit === 'ms' ? 1 : 1000;
  const at = typeof value === 'number' ? value * scale : isoTime(value);
  if (at === undefined || !Number.isInteger(at) || Math.abs(at) > 8.64e15) return undefined;
  if (typeof value === 'number' && at / scale !== value) return undefined;
  const moment = new Date(at);
  const [, clock = ''] = moment.toISOString().split('T');
  const time = clock.replace('Z', '').replace(/(?::00)?\.000$/, '');
  return `${dayFormat.format(moment)}, ${time} UTC`;
};

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** `Date` takes 30 February for 2 March. */
function isDay(written: string): boolean {
  const day = new Date(`${written}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(written);
}

function isoTime(value: JsonValue): number | undefined {
  const isIso =
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(value);
  return isIso && isDay(value.slice(0, 10)) ? Date.parse(value) : undefined;
}

const DURATION_UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const DURATION_SCALE: Readonly<Record<string, number>> = { ms: 1, seconds: 1_000, minutes: 60_000 };

/** Shows a number of seconds, milliseconds or minutes, such as 1 h 30 min. */
const duration: Format = (value, [unit = 'seconds']) => {
  const scale = DURATION_SCALE[unit] ?? 1_000;
  const ms = typeof value === 'number' ? value * scale : Number.NaN;
  if (!Number.isSafeInteger(ms) || ms < 0 || ms / scale !== value) return undefined;
  if (ms === 0) return '0 s';
  let rest = ms;
  const parts = DURATION_UNITS.flatMap(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${number(count, [])} ${name}`];
  });
  return parts.join(' ');
};

const BYTE_UNITS = ['KB', 'MB', 'GB', 'TB', 'PB'];

/** Shows a size exactly, and rounded beside that. */
const bytes: Format = (value) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined;
  const exact = `${number(value, [])} ${value === 1 ? 'byte' : 'bytes'}`;
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), BYTE_UNITS.length);
  if (power === 0) return exact;
  const rounded = numberFormat({ maximumFractionDigits: 1 }).format(value / 1024 ** power);
  return `${rounded} ${BYTE_UNITS[power - 1]} (${exact})`;
};

const listFormat = new Intl.ListFormat('en-GB', { type: 'conjunction' });

const WORD = /^[\p{L}\p{N}\p{M}_/@#+-](?:[\p{L}\p{N}\p{M}._/@:#+-]*[\p{L}\p{N}\p{M}_/@#+-])?$/u;

/** Tells whether a text is a single word, a name, an address or a number: it stands without quotes in a title. */
export function isWord(text: string): boolean {
  return WORD.test(text);
}

/** Shows a list of texts and numbers; if an item is no word or looks like a number, all texts are quoted. */
const list: Format = (value) => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const items: readonly JsonValue[] = value;
  if (!items.every((item) => typeof item === 'string' || typeof item === 'number')) return undefined;
  const isClear = items.every((item) => typeof item === 'number' || (isWord(item) && !NUMBER.test(item)));
  return listFormat.format(items.map((item) => (isClear ? String(item) : JSON.stringify(item))));
};

/** Shows a text as it is, in fixed-width letters where the place has them. */
const code: Format = (value) =>
  typeof value === 'string' && value !== '' && value.trim() === value ? value : undefined;

const person: Format = (value) => idOf(value, /^[UW][A-Z0-9]{6,20}$/);
const channel: Format = (value) => idOf(value, /^[CG][A-Z0-9]{6,20}$/);

function idOf(value: JsonValue, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

interface DeclaredFormat {
  readonly apply: Format;
  /** The allowed values of each argument; a pattern where there are too many to list. */
  readonly args: readonly (readonly string[] | RegExp)[];
}

const CURRENCY = /^[A-Z]{3}$/;

const FORMATS: ReadonlyMap<string, DeclaredFormat> = new Map<string, DeclaredFormat>([
  ['money', { apply: money, args: [CURRENCY, ['cents', 'units']] }],
  ['number', { apply: number, args: [] }],
  ['percent', { apply: percent, args: [['share', 'whole']] }],
  ['date', { apply: date, args: [['seconds', 'ms']] }],
  ['duration', { apply: duration, args: [['seconds', 'ms', 'minutes']] }],
  ['bytes', { apply: bytes, args: [] }],
  ['list', { apply: list, args: [] }],
  ['code', { apply: code, args: [] }],
  ['person', { apply: person, args: [] }],
  ['channel', { apply: channel, args: [] }],
]);

export const FORMAT_NAMES: readonly string[] = [...FORMATS.keys()];

/** Describes the mistake in a known format's arguments, if there is one. */
export function formatArgumentProblem({ name, args }: FormatCall): string | undefined {
  const declared = FORMATS.get(name)?.args ?? [];
  if (args.length > declared.length) {
    const most = declared.length === 0 ? 'no arguments' : `at most ${declared.length}`;
    return `${name} takes ${most}`;
  }
  for (const [index, argument] of args.entries()) {
    const allowed = declared[index];
    if (allowed instanceof RegExp && !allowed.test(argument))
      return `"${argument}" is not a currency code such as USD`;
    if (Array.isArray(allowed) && !allowed.includes(argument))
      return `"${argument}" is not one of ${allowed.join(', ')}`;
  }
  if (name === 'money' && args.length < declared.length)
    return "money needs a currency and a unit: money('USD', 'cents') or money('USD', 'units')";
  return undefined;
}

const TIME_WITHOUT_MS = /\.000Z$/;

/** Tells whether a text is the one way to write the time that the format shows. */
function isUsualTime(value: string): boolean {
  return DAY.test(value) || new Date(value).toISOString().replace(TIME_WITHOUT_MS, 'Z') === value;
}

/** Writes a value in a format; `undefined` if the format cannot show it. `isExact` means that no other value of its type looks the same. */
export function applyFormat(
  value: JsonValue,
  { name, args }: FormatCall,
): { readonly text: string; readonly isExact: boolean } | undefined {
  const text = FORMATS.get(name)?.apply(value, args);
  if (text === undefined) return undefined;
  const isTextual = name === 'code' || name === 'person' || name === 'channel';
  const isExact = typeof value !== 'string' || isTextual || (name === 'date' && isUsualTime(value));
  return { text, isExact };
}

/**
 * Writes a value for people. A format that cannot show the value exactly is not used: the value is then written as it is, and a text
 * that could be overlooked (empty, or with blanks at an end) in quotes.
 */
export function formatValue(value: JsonValue, format: FormatCall | undefined): string {
  const formatted = format && applyFormat(value, format);
  if (formatted !== undefined) return formatted.text;
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || value.trim() !== value ? JSON.stringify(value) : value;
}

/** Turns the name of a tool or an argument into words: `refund_order` and `refundOrder` become "Refund order". */
export function readableName(name: string): string {
  const words = name
    .replaceAll(
      /([a-z0-9])([A-Z])(?=[a-z])/g,
      (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
    )
    .replaceAll(/[_-]+/g, ' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
