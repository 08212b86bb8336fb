import { expect, test } from 'vitest';
import { UpdateBudget } from '../../../src/bot/delivery/update-budget.ts';

test('progress takes a share of the updates of a minute', () => {
  const updates = new UpdateBudget();
  for (let at = 0; at < 20; at += 1) expect(updates.takeProgress(at)).toBe(true);
  expect(updates.takeProgress(1_000)).toBe(false);
  expect(updates.takeProgress(60_005)).toBe(true);
});

test('progress waits while many updates were sent in the last minute', () => {
  const updates = new UpdateBudget();
  for (let at = 0; at < 40; at += 1) updates.count(at);
  expect(updates.takeProgress(1_000)).toBe(false);
  expect(updates.takeProgress(60_005)).toBe(true);
});
