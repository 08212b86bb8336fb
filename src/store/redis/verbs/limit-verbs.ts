import type { LimitStore } from '../../port/limits.ts';
import type { Keys } from '../../record/keys.ts';
import type { RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

/** All limits are in one shard, because an action counts against several of them in one step. */
const SHARD = 0;

/** Counts actions against limits. */
export function limitVerbs(run: RunScript, keys: Keys): LimitStore {
  const call = async (
    name: 'reserve' | 'give-back' | 'read-totals',
    limits: readonly string[],
    args: readonly (string | number)[],
  ): Promise<ScriptReply> => {
    const others = limits.map((limit) => keys.limit(limit, SHARD));
    return new ScriptReply(await run(name, { threadId: '', shard: SHARD, otherKeys: others, args }));
  };
  return {
    async reserve(action, attempt, uses) {
      if (uses.length === 0) return { outcome: 'reserved' };
      const reply = await call(
        'reserve',
        uses.map(({ key }) => key),
        [action, attempt, uses.length, ...uses.flatMap((use) => [use.amount, use.max ?? '', use.windowMs])],
      );
      if (reply.oneOf('reserved', 'over') === 'reserved') return { outcome: 'reserved' };
      return { outcome: 'over', index: reply.number(1) - 1, used: reply.number(2) };
    },

    async giveBack(action, limits, attempt = '') {
      if (limits.length > 0) await call('give-back', limits, [action, attempt]);
    },

    async readTotals(limits) {
      if (limits.length === 0) return [];
      const reply = await call(
        'read-totals',
        limits.map(({ key }) => key),
        limits.map(({ windowMs }) => windowMs),
      );
      return limits.map((_, index) => ({
        count: reply.number(1 + 2 * index),
        sum: reply.number(2 + 2 * index),
      }));
    },
  };
}
