import type { Verbs, World } from './world.ts';

/** An action counts once against each of its limits, whatever the number of attempts that hold it. */
export function limitModel(world: World): Pick<Verbs, 'reserve' | 'giveBack' | 'readTotals'> {
  const { limits } = world;
  const countedIn = (key: string, windowMs: number) =>
    [...(limits.get(key) ?? [])].filter(([, { at }]) => at + windowMs > world.now);

  return {
    reserve(action, attempt, uses) {
      for (const [index, { key, amount, max, windowMs }] of uses.entries()) {
        const counted = countedIn(key, windowMs);
        const used = counted.reduce((sum, [other, each]) => sum + (other === action ? 0 : each.amount), 0);
        const isHeld = counted.some(([other]) => other === action);
        if (max !== undefined && !isHeld && used + amount > max) return { outcome: 'over', index, used };
      }
      for (const { key, amount, windowMs } of uses) {
        const counted = new Map(countedIn(key, windowMs));
        const holders = counted.get(action)?.holders ?? [];
        limits.set(key, counted.set(action, { at: world.now, amount, holders: [...holders, attempt] }));
      }
      return { outcome: 'reserved' };
    },

    giveBack(action, keys, attempt) {
      for (const key of keys) {
        const counted = limits.get(key);
        const held = counted?.get(action);
        if (counted === undefined || held === undefined) continue;
        const holders = attempt === undefined ? [] : held.holders.filter((other) => other !== attempt);
        if (holders.length === 0) counted.delete(action);
        else counted.set(action, { ...held, holders });
      }
    },

    readTotals: (wanted) =>
      wanted.map(({ key, windowMs }) => {
        const counted = countedIn(key, windowMs);
        return { count: counted.length, sum: counted.reduce((sum, [, { amount }]) => sum + amount, 0) };
      }),
  };
}
