/** Numbers between two ends; an open end is not one of them. */
interface Range {
  readonly low: number;
  readonly high: number;
  readonly isLowOpen: boolean;
  readonly isHighOpen: boolean;
}

/** The values for which a part of a condition is true: numbers in ranges, or texts that are or are not in a list. */
export type ValueSet =
  | { readonly kind: 'numbers'; readonly ranges: readonly Range[] }
  | { readonly kind: 'texts'; readonly isListed: boolean; readonly texts: readonly string[] };

const NEVER = Number.NEGATIVE_INFINITY;
const ALWAYS = Number.POSITIVE_INFINITY;
const EVERYTHING: Range = { low: NEVER, high: ALWAYS, isLowOpen: true, isHighOpen: true };

/** Returns the numbers for which a comparison with a number is true. */
export function numbersOf(operator: string, number: number): ValueSet | undefined {
  const below = (isOpen: boolean): Range => ({ ...EVERYTHING, high: number, isHighOpen: isOpen });
  const above = (isOpen: boolean): Range => ({ ...EVERYTHING, low: number, isLowOpen: isOpen });
  const ranges = new Map<string, Range[]>([
    ['<', [below(true)]],
    ['<=', [below(false)]],
    ['>', [above(true)]],
    ['>=', [above(false)]],
    ['==', [{ low: number, high: number, isLowOpen: false, isHighOpen: false }]],
    ['!=', [below(true), above(true)]],
  ]).get(operator);
  return ranges && { kind: 'numbers', ranges };
}

/** Returns the numbers that a value can have at all. */
export function numbersBetween(least = NEVER, most = ALWAYS): ValueSet {
  const range = { low: least, high: most, isLowOpen: least === NEVER, isHighOpen: most === ALWAYS };
  return { kind: 'numbers', ranges: [range] };
}

/** Returns the values that are in both sets; sets of different kinds cannot be compared. */
export function intersect(left: ValueSet, right: ValueSet): ValueSet | undefined {
  if (left.kind === 'numbers' && right.kind === 'numbers') {
    const ranges = left.ranges.flatMap((one) => right.ranges.map((other) => intersectRanges(one, other)));
    return { kind: 'numbers', ranges: ranges.filter((range) => !isEmptyRange(range)) };
  }
  if (left.kind !== 'texts' || right.kind !== 'texts') return undefined;
  if (!left.isListed && !right.isListed)
    return { kind: 'texts', isListed: false, texts: [...left.texts, ...right.texts] };
  const [listed, other] = left.isListed ? [left, right] : [right, left];
  const texts = listed.texts.filter((text) => other.texts.includes(text) === other.isListed);
  return { kind: 'texts', isListed: true, texts };
}

/** Returns the values that are in one of the sets. */
export function unite(left: ValueSet, right: ValueSet): ValueSet | undefined {
  const neither = intersect(complement(left), complement(right));
  return neither && complement(neither);
}

/** Returns all other values. */
export function complement(set: ValueSet): ValueSet {
  if (set.kind === 'texts') return { ...set, isListed: !set.isListed };
  const rest = set.ranges.reduce<readonly Range[]>(
    (left, { low, high, isLowOpen, isHighOpen }) => {
      const outside: Range[] = [
        { ...EVERYTHING, high: low, isHighOpen: !isLowOpen },
        { ...EVERYTHING, low: high, isLowOpen: !isHighOpen },
      ];
      return left
        .flatMap((one) => outside.map((other) => intersectRanges(one, other)))
        .filter((range) => !isEmptyRange(range));
    },
    [EVERYTHING],
  );
  return { kind: 'numbers', ranges: rest };
}

/** Tells whether a set has no value; of whole numbers `5 < x < 6` has none either. */
export function isEmptySet(set: ValueSet, isWhole = false): boolean {
  if (set.kind === 'texts') return set.isListed && set.texts.length === 0;
  return set.ranges.every((range) => isWhole && closeRange(range) === undefined);
}

/** Tells whether a set of numbers has a least and a greatest one. */
export function isBounded(set: ValueSet): boolean {
  return set.kind === 'numbers' && set.ranges.every(({ low, high }) => low !== NEVER && high !== ALWAYS);
}

/** Describes the numbers of a set: `x == 5`, `x from 3 to 9`. */
export function describeGaps(set: ValueSet, of: string, isWhole: boolean): string[] {
  if (set.kind === 'texts') return [];
  return set.ranges.flatMap((range) => {
    const closed = isWhole ? closeRange(range) : range;
    if (closed === undefined) return [];
    if (closed.low === closed.high) return [`${of} == ${closed.low}`];
    return [`${of} ${isWhole ? 'from' : 'between'} ${closed.low} ${isWhole ? 'to' : 'and'} ${closed.high}`];
  });
}

function intersectRanges(one: Range, other: Range): Range {
  const [low, isLowOpen] =
    one.low === other.low
      ? [one.low, one.isLowOpen || other.isLowOpen]
      : one.low > other.low
        ? [one.low, one.isLowOpen]
        : [other.low, other.isLowOpen];
  const [high, isHighOpen] =
    one.high === other.high
      ? [one.high, one.isHighOpen || other.isHighOpen]
      : one.high < other.high
        ? [one.high, one.isHighOpen]
        : [other.high, other.isHighOpen];
  return { low, high, isLowOpen, isHighOpen };
}

function isEmptyRange({ low, high, isLowOpen, isHighOpen }: Range): boolean {
  return low > high || (low === high && (isLowOpen || isHighOpen));
}

/** Returns the whole numbers of a range by the first and the last of them. */
function closeRange({ low, high, isLowOpen, isHighOpen }: Range): Range | undefined {
  const first = isLowOpen ? Math.floor(low) + 1 : Math.ceil(low);
  const last = isHighOpen ? Math.ceil(high) - 1 : Math.floor(high);
  return first > last ? undefined : { low: first, high: last, isLowOpen: false, isHighOpen: false };
}
