import { canonicalJson, toJson } from '../../../agent/json.ts';

/** The effect of a change on what a call needs in order to run; what cannot be compared is treated as weaker. */
export type ChangeEffect = 'weaker' | 'stronger' | 'incomparable';

/** One difference between two manifests, in words. */
export interface RuleChange {
  /** Such as `policies.finance` or `tools.refund_order`. */
  readonly part: string;
  readonly effect: ChangeEffect;
  readonly words: string;
}

/** A change of a part that is known where the changes are collected. */
export type PartChange = Omit<RuleChange, 'part'>;

export function weaker(words: string): PartChange {
  return { effect: 'weaker', words };
}

export function stronger(words: string): PartChange {
  return { effect: 'stronger', words };
}

export function incomparable(words: string): PartChange {
  return { effect: 'incomparable', words };
}

/** Returns the change of a number of which more is weaker. */
export function compareNumbers(
  what: string,
  former: number,
  next: number,
  say: (value: number) => string = String,
): PartChange[] {
  if (former === next) return [];
  const words = `${what}: ${say(former)} before, ${say(next)} now`;
  return [next > former ? weaker(words) : stronger(words)];
}

/** Returns the changes of a list of which more members are weaker; `undefined` stands for everyone. */
export function compareMembers(
  what: string,
  former: readonly string[] | undefined,
  next: readonly string[] | undefined,
): PartChange[] {
  if (former === undefined) return next === undefined ? [] : [stronger(`${what}: only ${listOf(next)} now`)];
  if (next === undefined) return [weaker(`${what}: anyone now, before only ${listOf(former)}`)];
  const added = next.filter((id) => !former.includes(id));
  const removed = former.filter((id) => !next.includes(id));
  return [
    ...(added.length > 0 ? [weaker(`${what}: ${listOf(added)} added`)] : []),
    ...(removed.length > 0 ? [stronger(`${what}: ${listOf(removed)} removed`)] : []),
  ];
}

/** Returns an incomparable change for each key that differs and has no comparison of its own, so that a new key is never overlooked. */
export function compareOthers(former: object, next: object, known: ReadonlySet<string>): PartChange[] {
  const [before, after] = [new Map(Object.entries(former)), new Map(Object.entries(next))];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => !known.has(key) && !isSame(before.get(key), after.get(key)))
    .map((key) => incomparable(`${key} has changed`));
}

export function isSame(left: unknown, right: unknown): boolean {
  return canonicalJson(toJson({ value: plain(left) })) === canonicalJson(toJson({ value: plain(right) }));
}

function plain(value: unknown): unknown {
  return value instanceof Map ? [...value] : (value ?? null);
}

export function listOf(ids: readonly string[]): string {
  return ids.length === 0 ? 'nobody' : ids.join(', ');
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
];

/** Writes a duration as the manifest does. */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['s', 1000];
  return `${ms / size}${unit}`;
}
