import { expect } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import type { LimitUse } from '../../../src/store/port/workspace.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  attempt,
  beginTurn,
  effectFinish,
  effectStart,
  found,
  MINUTE_MS,
  newThreadId,
  outcome,
} from '../support.ts';
import type { Scenarios } from './stage.ts';

const use = (changes: Partial<LimitUse> = {}): LimitUse => ({
  ...{ key: 'refunds|tool', amount: 60, max: 100, windowMs: MINUTE_MS },
  ...changes,
});
const counts = (action: string, ...limits: LimitUse[]) => ({ counts: { action, limits } });
const OVER = { outcome: 'over', index: 0, used: 60 };

async function askApproved(store: Store): Promise<string> {
  const requestId = await ask(store);
  await store.vote(requestId, approve('U-ann'));
  return requestId;
}

async function startCounted(store: Store): Promise<string> {
  const requestId = await askApproved(store);
  await store.start(requestId, attempt('first', counts('one', use())));
  return requestId;
}

async function totalOf(store: Store): Promise<number> {
  const [total] = await store.readTotals([use()]);
  return total?.sum ?? 0;
}

/** Guards of limits. */
export const limitScenarios: Scenarios = {
  'limit-over': async ({ store }) => {
    await store.countCall('T-1', { ref: 'one', limits: [use()] });
    const both = { ref: 'two', limits: [use({ key: 'other|tool' }), use()] };
    expect(await store.countCall('T-1', both)).toEqual({ outcome: 'over', index: 1, used: 60 });
    expect(await store.readTotals([use({ key: 'other|tool' }), use()])).toEqual([
      { count: 0, sum: 0 },
      { count: 1, sum: 60 },
    ]);
    const allowed = { ref: 'two', limits: [use({ max: undefined })] };
    expect(await store.countCall('T-1', allowed)).toMatchObject({ outcome: 'counted' });
  },
  'finish-done': async ({ store }) => {
    const done = [{ key: 'first', windowMs: MINUTE_MS }];
    for (const [state, count] of [
      ['failed', 0],
      ['paused', 0],
      ['succeeded', 1],
    ] as const) {
      const requestId = await askApproved(store);
      await store.start(requestId, attempt('first', { done }));
      await store.finish(requestId, outcome('first', { state }));
      expect(await store.readTotals(done)).toEqual([{ count, sum: 0 }]);
    }
  },
  'resolve-done': async ({ store, resending }) => {
    const done = [{ key: 'first', windowMs: MINUTE_MS }];
    for (const [verdict, count] of [
      ['did-not-run', 0],
      ['run-again', 0],
      ['ran', 1],
    ] as const) {
      const requestId = await askAndLose(store, {}, { done });
      const say = (told: typeof store) => told.resolve(requestId, actor('U-ops'), verdict, 'I looked');
      await say(resending);
      await say(store);
      expect(await store.readTotals(done)).toEqual([{ count, sum: 0 }]);
    }
  },
  'finish-call-done': async ({ store, resending }) => {
    const done = [{ key: 'first', windowMs: MINUTE_MS }];
    for (const [ref, end, count] of [
      ['one', 'failed', 0],
      ['two', 'unknown', 0],
      ['three', 'succeeded', 1],
    ] as const) {
      const turn = await beginTurn(store, newThreadId());
      await store.startEffect(turn, effectStart(ref));
      await resending.finishEffect(turn, effectFinish(ref, { end, done }));
      expect(await store.readTotals(done)).toEqual([{ count, sum: 0 }]);
    }
  },
  'limit-counted': async ({ store }) => {
    await store.countCall('T-1', { ref: 'one', limits: [use()] });
    expect(await store.countCall('T-1', { ref: 'one', limits: [use()] })).toMatchObject({
      outcome: 'counted',
    });
    // A larger amount counts in place of the first, and is refused where it does not fit.
    const larger = { ref: 'one', limits: [use({ amount: 90 })] };
    expect(await store.countCall('T-1', larger)).toMatchObject({ outcome: 'counted' });
    expect(await store.readTotals([use()])).toEqual([{ count: 1, sum: 90 }]);
    const tooLarge = { ref: 'one', limits: [use({ amount: 101 })] };
    expect(await store.countCall('T-1', tooLarge)).toEqual({ outcome: 'over', index: 0, used: 0 });
  },
  'limit-window': async ({ store, client, keys }) => {
    await store.countCall('T-1', { ref: 'one', limits: [use()] });
    // A slice of long ago, which nothing has removed since.
    await client.hset(`${keys.shared('limit')}:refunds|tool`, '1', '1 60');
    expect(await store.readTotals([use()])).toEqual([{ count: 1, sum: 60 }]);
  },
  'start-over': async ({ store }) => {
    await startCounted(store);
    const requestId = await askApproved(store);
    expect(await store.start(requestId, attempt('first', counts('two', use())))).toEqual(OVER);
    expect(await found(store, requestId)).toMatchObject({ state: 'approved', attempts: 0 });
    const turn = await beginTurn(store, newThreadId());
    expect(await store.startEffect(turn, effectStart('call-2', { limits: [use()] }))).toEqual(OVER);
    expect(await totalOf(store)).toBe(60);
  },
  'finish-failed': async ({ store }) => {
    const requestId = await startCounted(store);
    await store.finish(requestId, outcome('first', { state: 'failed' }));
    expect(await totalOf(store)).toBe(0);
    const other = await startCounted(store);
    await store.finish(other, outcome('first'));
    expect(await totalOf(store)).toBe(60);
  },
  'resolve-did-not-run': async ({ store }) => {
    const requestId = await askAndLose(store, {}, counts('one', use()));
    expect(await totalOf(store)).toBe(60);
    await store.resolve(requestId, actor('U-ops'), 'did-not-run', '');
    expect(await totalOf(store)).toBe(0);
  },
  'finish-call-failed': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.startEffect(turn, effectStart('call-1', { limits: [use()] }));
    await store.finishEffect(turn, effectFinish('call-1', { end: 'failed' }));
    expect(await totalOf(store)).toBe(0);
  },
  'count-call-over': async ({ store }) => {
    await store.countCall('T-1', { ref: 'one', limits: [use()] });
    expect(await store.countCall('T-1', { ref: 'two', limits: [use()] })).toEqual(OVER);
  },
  'vote-rate': async ({ store }) => {
    const rates = [{ key: 'approvals|U-ann', max: 1, windowMs: MINUTE_MS }];
    const [one, two] = [await ask(store), await ask(store)];
    expect(await store.vote(one, approve('U-ann', { rates }))).toMatchObject({ outcome: 'voted' });
    expect(await store.vote(two, approve('U-ann', { rates }))).toEqual({ outcome: 'too-many' });
    expect(await found(store, two)).toMatchObject({ state: 'pending', approvals: 0 });
  },
};
