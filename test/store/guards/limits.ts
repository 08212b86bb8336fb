import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { MINUTE_MS } from '../support.ts';
import type { Scenarios } from './stage.ts';

const use = (changes: object = {}) => ({
  key: 'refunds|tool',
  amount: 60,
  max: 100,
  windowMs: MINUTE_MS,
  ...changes,
});
const KEYS = ['refunds|tool'];

/** Guards of limits. */
export const limitScenarios: Scenarios = {
  'reserve-over': async ({ store }) => {
    expect(await store.reserve('one', 'first', [use()])).toEqual({ outcome: 'reserved' });
    expect(await store.reserve('one', 'second', [use()])).toEqual({ outcome: 'reserved' });
    const others = [use({ key: 'other|tool' }), use()];
    expect(await store.reserve('two', 'first', others)).toEqual({ outcome: 'over', index: 1, used: 60 });
    expect(await store.readTotals([use({ key: 'other|tool' }), use()])).toEqual([
      { count: 0, sum: 0 },
      { count: 1, sum: 60 },
    ]);
    expect(await store.reserve('two', 'first', [use({ max: undefined })])).toEqual({ outcome: 'reserved' });
  },
  'reserve-window': async ({ store }) => {
    await store.reserve('one', 'first', [use({ windowMs: 600_000 })]);
    await sleep(3);
    expect(await store.reserve('two', 'first', [use({ windowMs: 1 })])).toEqual({ outcome: 'reserved' });
  },
  'give-back-held': async ({ store }) => {
    await store.reserve('one', 'first', [use()]);
    await store.reserve('one', 'second', [use()]);
    await store.giveBack('one', KEYS, 'first');
    expect(await store.readTotals([use()])).toEqual([{ count: 1, sum: 60 }]);
    await store.giveBack('one', KEYS, 'second');
    expect(await store.readTotals([use()])).toEqual([{ count: 0, sum: 0 }]);
  },
};
