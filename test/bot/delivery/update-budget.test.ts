import { expect, test } from 'vitest';
import { UpdateBudget } from '../../../src/bot/delivery/update-budget.ts';

test('progress waits while many updates were sent in the last minute', () => {
  const updates = new UpdateBudget();
  for (let at = 0; at < 20; at += 1) updates.count(at);
  expect(updates.hasRoomForProgress(1_000)).toBe(false);
  expect(updates.hasRoomForProgress(60_005)).toBe(true);
});
