import { expect, test } from 'vitest';
import { measureLimits } from '../../bench/store/limits.ts';
import { measurePending } from '../../bench/store/pending.ts';
import { measureProfile } from '../../bench/way/profile.ts';
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

test('the profile names packages, and no share of them is lost', async () => {
  const [cpu, memory, code] = await measureProfile({ warmUps: 1, actions: 3 });
  expect(cpu?.rows.map(([name]) => name)).toContain('Countersign');
  const shares = cpu?.rows.map(([, , caused = '']) => Number.parseFloat(caused)) ?? [];
  // Each share is rounded.
  expect(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100)).toBeLessThan(1);
  expect(memory?.rows.map(([name]) => name)).toContain("V8's heap, after a collection");
  expect(code?.rows.map(([name]) => name)).toEqual(expect.arrayContaining(['Countersign', 'bullmq']));
  // Only bots with clients over MCP load it.
  expect(code?.rows).toContainEqual(['@modelcontextprotocol/server', '0', expect.any(String)]);
});
