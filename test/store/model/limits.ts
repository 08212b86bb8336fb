import type { DoneCounter, LimitUse, OverLimit } from '../../../src/store/port/workspace.ts';
import type { Counted, Verbs, World } from './world.ts';

/** A window is counted in so many slices; an action counts until the whole of its slice has left the window. */
const SLICES = 60;

function countedIn(world: World, key: string, windowMs: number): Map<string, Counted> {
  const first = Math.floor((world.now - windowMs) / Math.ceil(windowMs / SLICES));
  return new Map([...(world.limits.get(key) ?? [])].filter(([, { slice }]) => slice >= first));
}

/** Counts an action once against each of its limits, or against none. One that counts already is refused only if it counts more. */
export function countAction(
  world: World,
  action: string,
  uses: readonly LimitUse[] = [],
): OverLimit | undefined {
  for (const [index, { key, amount, max, windowMs }] of uses.entries()) {
    const counted = countedIn(world, key, windowMs);
    const own = counted.get(action)?.amount;
    const used = [...counted.values()].reduce((sum, each) => sum + each.amount, 0) - (own ?? 0);
    if (max !== undefined && (own === undefined || amount > own) && used + amount > max)
      return { outcome: 'over', index, used };
  }
  for (const { key, amount, windowMs } of uses) {
    const slice = Math.floor(world.now / Math.ceil(windowMs / SLICES));
    world.limits.set(key, countedIn(world, key, windowMs).set(action, { slice, amount }));
  }
  return undefined;
}

/** Counts a success, which nothing takes back. */
export function countDone(world: World, done: readonly DoneCounter[] = []): void {
  for (const { key, windowMs } of done) {
    const slice = Math.floor(world.now / Math.ceil(windowMs / SLICES));
    const counted = countedIn(world, key, windowMs);
    world.limits.set(key, counted.set(`done ${counted.size} ${world.now}`, { slice, amount: 0 }));
  }
}

/** An action that had no effect counts no more. */
export function takeBack(world: World, action: string): void {
  for (const counted of world.limits.values()) counted.delete(action);
}

export function limitModel(world: World): Pick<Verbs, 'readTotals'> {
  return {
    readTotals: (wanted) =>
      wanted.map(({ key, windowMs }) => {
        const counted = [...countedIn(world, key, windowMs).values()];
        return { count: counted.length, sum: counted.reduce((sum, { amount }) => sum + amount, 0) };
      }),
  };
}
