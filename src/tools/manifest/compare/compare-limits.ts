import type { Limit } from '../../gate/limits.ts';
import { incomparable, isSame, type PartChange, stronger, weaker } from './change.ts';

/** Compares the limits on what tools may do: one that is gone or allows more is weaker, a new one that denies is stronger. */
export function compareLimits(former: readonly Limit[], next: readonly Limit[]): PartChange[] {
  const named = new Map(next.map((limit) => [limit.name, limit]));
  const known = new Set(former.map(({ name }) => name));
  return [
    ...former.flatMap((limit) => compareLimit(limit, named.get(limit.name))),
    ...next
      .filter(({ name }) => !known.has(name))
      .map(({ name, policy }) =>
        policy === undefined
          ? stronger(`the limit "${name}" is new`)
          : incomparable(`the limit "${name}" is new, and "${policy}" approves what is over it`),
      ),
  ];
}

function compareLimit(former: Limit, next: Limit | undefined): PartChange[] {
  const { name } = former;
  if (next === undefined) return [weaker(`the limit "${name}" is gone`)];
  if (isSame(former, next)) return [];
  if (!isSame({ ...former, max: 0 }, { ...next, max: 0 }))
    return [incomparable(`the limit "${name}" has changed`)];
  const words = `the limit "${name}": ${former.max} before, ${next.max} now`;
  return [next.max > former.max ? weaker(words) : stronger(words)];
}
