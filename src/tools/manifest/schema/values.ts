import { z } from 'zod';

const UNITS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

export const DURATION = /^[1-9][0-9]{0,5}[smhd]$/;

/** Converts a duration such as `30s`, `15m`, `4h` or `2d` to milliseconds; the text must match `DURATION`. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * (UNITS.get(text.slice(-1)) ?? Number.NaN);
}

/** The name of a tool or a policy; models refuse tool names of any other form. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

// The title of a schema appears in messages as what was expected.
export const Name = z.string().regex(NAME).meta({ title: 'a name of 1 to 64 letters, digits, "_" or "-"' });
export const Duration = z
  .string()
  .regex(DURATION)
  .meta({ title: 'a duration such as 30s, 15m, 4h or 2d' })
  .transform(durationMs);
/** Converts a size such as `500KB` or `10MB` to bytes; the text must match `SIZE`. */
const SIZE = /^(?:[1-9][0-9]{0,4}KB|[1-9][0-9]?MB)$/;
export const Size = z
  .string()
  .regex(SIZE)
  .meta({ title: 'a size such as 500KB or 10MB, up to 99MB' })
  .transform((text) => Number(text.slice(0, -2)) * (text.endsWith('KB') ? 1_000 : 1_000_000));
export const Person = z
  .string()
  .regex(/^[UW][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a person, such as U012ABCDEF' });
export const PersonOrGroup = z
  .string()
  .regex(/^[UWS][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a person (U012ABCDEF) or of a user group (S034GHIJKL)' });
export const Group = z
  .string()
  .regex(/^S[A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a user group, such as S034GHIJKL' });
export const Bot = z
  .string()
  .regex(/^[BUW][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a bot (B012ABCDEF) or of its user (U012ABCDEF)' });
export const Channel = z
  .string()
  .regex(/^[CG][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a channel, such as C012ABCDEF' });
export const HostName = z
  .string()
  .regex(/^[A-Za-z0-9._:[\]-]{1,253}$/)
  .meta({ title: 'a host name, with ":port" where only one port is meant' });
export const WebAddress = z
  .string()
  .regex(/^https?:\/\/\S+$/)
  .meta({ title: 'a URL that begins with https:// or http://' });
export const AddressOrPath = z
  .string()
  .regex(/^(?:https?:\/\/|\/(?!\/))\S*$/)
  .meta({
    title:
      'a URL that begins with https:// or http://, or a path such as /orders below http_defaults.base_url',
  });
/** A local date and time such as `2026-11-26 18:00`. */
export const LOCAL_DATE_TIME =
  /^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]) (?:[01][0-9]|2[0-3]):[0-5][0-9]$/;
/** A date, with or without a time of day, such as `2026-11-26` or `2026-11-26 18:00`. */
export const LOCAL_DATE =
  /^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?: (?:[01][0-9]|2[0-3]):[0-5][0-9])?$/;
/** A day of the week and a time of day such as `friday 14:00`. */
export const WEEKLY_TIME = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:[01][0-9]|2[0-3]):[0-5][0-9]$/;
export const Text = z.string().min(1);
export const TimeZone = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9+_/-]{1,60}$/)
  .meta({ title: 'a time zone such as Europe/Berlin' });
/** Converts a time of day such as `20:00` to minutes. */
export const TimeOfDay = z
  .string()
  .regex(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/)
  .meta({ title: 'a time of day in quotes, such as "20:00"' })
  .transform((text) => 60 * Number(text.slice(0, 2)) + Number(text.slice(3)));
export const Count = z.int().min(1);

/** A list without duplicates. */
export function distinct<Item extends z.ZodType>(item: Item, description: string) {
  const isOnce = (items: readonly unknown[]) =>
    new Set(items.map((each) => JSON.stringify(each))).size === items.length;
  return z.array(item).refine(isOnce).meta({ uniqueItems: true, description });
}

export function named<Value extends z.ZodType>(value: Value, description: string) {
  return z.record(Name, value).meta({ description });
}

/** Texts by header or variable name. */
export function texts(key: RegExp, title: string, description: string) {
  return z.record(z.string().regex(key).meta({ title }), z.string()).meta({ description });
}

export const Headers = texts(
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
  'the name of a header',
  'Headers to send; secrets come from the environment.',
);
