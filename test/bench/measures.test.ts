import { expect, test } from 'vitest';
import { measureLimits } from '../../bench/store/limits.ts';
import { measurePending } from '../../bench/store/pending.ts';
import { measureWorkers } from '../../bench/worker/workers.ts';

// Each measure compares the outcome of every step with what it expects, so one that no longer fits the record throws.
test('the measures of pending requests still run', async () => {
  const { rows } = await measurePending({ rounds: 2, some: 20, many: 40 });
  expect(rows.map(([name]) => name)).toContain('memory for one pending request');
});

test('the measure of limits still runs', async () => {
  const { rows } = await measureLimits({ rounds: 2, many: 40 });
  expect(rows).toHaveLength(2);
});

test('the measure of several workers still runs', async () => {
  const { rows } = await measureWorkers({ teams: [1, 2], warmUps: 4, batch: 4, rounds: 1 });
  expect(rows.map(([workers]) => workers)).toEqual(['1', '2']);
});
