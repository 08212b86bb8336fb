import type { JsonValue } from '../../agent/json.ts';

/** A format with its arguments, such as `money('USD', 'cents')`. */
export interface FormatCall {
  readonly name: string;
  readonly args: readonly string[];
}

/** The outcome of a format: its text, or `undefined` if it cannot show the value exactly. */
type Format = (value: JsonValue, args: readonly string[]) => string | undefined;

/** Reads a number as people enter it in a format; `undefined` if the text is none, or its number cannot be stored exactly. */
type Reader = (text: string, args: readonly string[]) => number | undefined;

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

const ENTERED = /^-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/;

/** Reads a decimal number, shifted by powers of ten. The shift is made in the text, and a number that would be rounded is none. */
function readDecimal(text: string, shift = 0): number | undefined {
  if (!ENTERED.test(text) || text.length > 40) return undefined;
  const written = `${text.replaceAll(',', '')}e${shift}`;
  const value = Number(written);
  if (normalForm(String(value)) !== normalForm(written)) return undefined;
  return value === 0 ? 0 : value;
}

/** Writes a decimal number in the one way that has no zeros at its ends. */
function normalForm(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return kept === '' ? '0' : `${mantissa.startsWith('-') ? '-' : ''}${kept}e${power}`;
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

/** Returns the decimal places of a currency. */
function centsOf(currency: string): number {
  const style = { style: 'currency', currency } as const;
  return new Intl.NumberFormat(LOCALE, style).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Shows an amount of a currency in full; the second argument says whether it is in cents or in units. */
const money: Format = (value, [currency = 'USD', unit]) => {
  const minimumFractionDigits = centsOf(currency);
  const amount = decimal(value, unit === 'cents' ? -minimumFractionDigits : 0);
  return amount && numberFormat({ style: 'currency', currency, minimumFractionDigits }).format(amount);
};

/** Writes an amount without its currency, as people type it. */
const bareMoney: Format = (value, [currency = 'USD', unit]) => {
  const minimumFractionDigits = centsOf(currency);
  const amount = decimal(value, unit === 'cents' ? -minimumFractionDigits : 0);
  return amount && numberFormat({ minimumFractionDigits, useGrouping: false }).format(amount);
};

/** Reads an amount with or without the sign of its own currency; any other is none. */
const readMoney: Reader = (text, [currency = 'USD', unit]) => {
  const parts = numberFormat({ style: 'currency', currency }).formatToParts(0);
  const marks = [parts.find(({ type }) => type === 'currency')?.value ?? currency, currency];
  const [, sign = '', rest = ''] = /^(-?)\s*(.*)$/s.exec(text) ?? [];
  const [before, after] = [(mark: string) => rest.startsWith(mark), (mark: string) => rest.endsWith(mark)];
  const [first, last] = [marks.find(before), marks.find(after)];
  const amount =
    first === undefined ? rest.slice(0, rest.length - (last?.length ?? 0)) : rest.slice(first.length);
  return readDecimal(`${sign}${amount.trim()}`, unit === 'cents' ? centsOf(currency) : 0);
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

const readPercent: Reader = (text, [unit = 'share']) =>
  readDecimal(text.replace(/\s*%$/, ''), unit === 'whole' ? 0 : -2);

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A year before the first is written like one after it. */
const FIRST_YEAR = Date.parse('0001-01-01T00:00:00Z');

/** Shows an ISO date or time, or a number of seconds or milliseconds since 1970, in UTC. */
const date: Format = (value, [unit = 'seconds']) => {
  if (typeof value === 'string' && DAY.test(value))
    return isDay(value) ? showDay(new Date(value)) : undefined;
  const scale = unit === 'ms' ? 1 : 1000;
  const at = typeof value === 'number' ? value * scale : isoTime(value);
  if (at === undefined || !Number.isInteger(at) || at < FIRST_YEAR || at > 8.64e15) return undefined;
  if (typeof value === 'number' && at / scale !== value) return undefined;
  const moment = new Date(at);
  const [, clock = ''] = moment.toISOString().split('T');
  const time = clock.replace('Z', '').replace(/(?::00)?\.000$/, '');
  return `${showDay(moment)}, ${time} UTC`;
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

/** Writes a day as in 5 Mar 2026; Intl would write the same, and takes 30 ms of the start to load its calendars. */
function showDay(moment: Date): string {
  return `${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]} ${moment.getUTCFullYear()}`;
}

const SHOWN_TIME = /^(\d{1,2}) (\p{L}+) (\d{4}),? (\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?)(?: UTC)?$/u;
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(?:Z| UTC)?$/;

/** Reads a time in UTC, as a card writes it or by ISO 8601, as a number of seconds or milliseconds since 1970. */
const readTime: Reader = (text, [unit = 'seconds']) => {
  const [, day = '', month = '', year = '', shown = ''] = SHOWN_TIME.exec(text) ?? [];
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  const [, date = `${year}-${number}-${day.padStart(2, '0')}`, clock = shown] = ISO_TIME.exec(text) ?? [];
  const at = isoTime(`${date}T${clock}Z`);
  return at === undefined || Number.isNaN(at) ? undefined : at / (unit === 'ms' ? 1 : 1000);
};

/** `Date` takes 30 February for 2 March. */
function isDay(written: string): boolean {
  const day = new Date(`${written}T00:00:00Z`);
  return day.getTime() >= FIRST_YEAR && day.toISOString().startsWith(written);
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

const DURATION = /^(?:([\d,]+)d)?(?:([\d,]+)h)?(?:([\d,]+)min)?(?:([\d,]+)s)?(?:([\d,]+)ms)?$/;

/** Reads days, hours, minutes, seconds and milliseconds, in this order. */
const readDuration: Reader = (text, [unit = 'seconds']) => {
  const [, ...counts] = DURATION.exec(text.replace(/\s+/g, '')) ?? [];
  const sizes = DURATION_UNITS.flatMap(([, size], index) => {
    const count = counts[index];
    return count === undefined ? [] : [(readDecimal(count) ?? Number.NaN) * size];
  });
  const ms = sizes.length === 0 ? Number.NaN : sizes.reduce((sum, size) => sum + size);
  const scale = DURATION_SCALE[unit] ?? 1_000;
  return Number.isSafeInteger(ms) && (ms / scale) * scale === ms ? ms / scale : undefined;
};

const BYTE_UNITS = ['KB', 'MB', 'GB', 'TB', 'PB'];

const exactBytes: Format = (value) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined;
  return `${number(value, [])} ${value === 1 ? 'byte' : 'bytes'}`;
};

/** Shows a size exactly, and rounded beside that. */
const bytes: Format = (value, args) => {
  const exact = exactBytes(value, args);
  if (exact === undefined || typeof value !== 'number') return undefined;
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), BYTE_UNITS.length);
  if (power === 0) return exact;
  const rounded = numberFormat({ maximumFractionDigits: 1 }).format(value / 1024 ** power);
  return `${rounded} ${BYTE_UNITS[power - 1]} (${exact})`;
};

const SIZE = /^(?:.*\()?([\d,.]+) ?(bytes?|[KMGTP]B)?\)?$/;

/** Reads a size in bytes, or in larger units if that is a whole number of bytes. What a card rounds has the bytes beside it. */
const readBytes: Reader = (text) => {
  const [, count = '', unit = 'bytes'] = SIZE.exec(text) ?? [];
  const size = (readDecimal(count) ?? Number.NaN) * 1024 ** (BYTE_UNITS.indexOf(unit) + 1);
  return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
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
  /** How people enter a number in this format, where they do not enter the number itself. */
  readonly entry?: {
    readonly read: Reader;
    readonly example: string;
    /** Writes it as people type it, if that is not what the card shows. */
    readonly write?: Format;
  };
}

const CURRENCY = /^[A-Z]{3}$/;

const FORMATS: ReadonlyMap<string, DeclaredFormat> = new Map<string, DeclaredFormat>([
  [
    'money',
    {
      apply: money,
      args: [CURRENCY, ['cents', 'units']],
      entry: { read: readMoney, write: bareMoney, example: '150' },
    },
  ],
  ['number', { apply: number, args: [] }],
  ['percent', { apply: percent, args: [['share', 'whole']], entry: { read: readPercent, example: '25' } }],
  [
    'date',
    { apply: date, args: [['seconds', 'ms']], entry: { read: readTime, example: '2026-11-17 15:00' } },
  ],
  [
    'duration',
    {
      apply: duration,
      args: [['seconds', 'ms', 'minutes']],
      entry: { read: readDuration, example: '1 h 30 min' },
    },
  ],
  ['bytes', { apply: bytes, args: [], entry: { read: readBytes, write: exactBytes, example: '2 MB' } }],
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

/** Reads a number that was entered as a card shows it; `undefined` if the text is none in this format. */
export function readEntry(text: string, { name, args }: FormatCall): number | undefined {
  return FORMATS.get(name)?.entry?.read(text.trim(), args);
}

/** Writes a number as people edit it; `undefined` if that text would not be read as the same number. */
export function writeEntry(value: JsonValue, format: FormatCall): string | undefined {
  const { entry, apply } = FORMATS.get(format.name) ?? {};
  if (typeof value !== 'number' || entry === undefined) return undefined;
  const text = (entry.write ?? apply)?.(value, format.args);
  return text !== undefined && readEntry(text, format) === value ? text : undefined;
}

/** Returns an example of what people enter in a format; `undefined` if they enter the number itself. */
export function exampleEntry(format: FormatCall): string | undefined {
  const example = FORMATS.get(format.name)?.entry?.example;
  const value = example === undefined ? undefined : readEntry(example, format);
  return value === undefined ? undefined : writeEntry(value, format);
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
