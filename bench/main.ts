import { measureClicks } from './slack/clicks.ts';
import { measureWholeWay } from './slack/whole-way.ts';
import { measureStepOverhead } from './step-overhead.ts';
import { measurePending } from './store/pending.ts';
import { type Table, writeTable } from './table.ts';
import { measureGrownThreads } from './turn/grown-threads.ts';
import { measureTurns } from './turn/measure-turns.ts';
import { measureMemory } from './worker/memory.ts';
import { measureStartUp } from './worker/start-up.ts';
import { measureTwoWorkers } from './worker/two-workers.ts';

const rounds = Number(process.env.COUNTERSIGN_BENCH_ROUNDS ?? 300);
const many = Number(process.env.COUNTERSIGN_BENCH_PENDING ?? 100_000);

const measures: Readonly<Record<string, () => Promise<Table[]>>> = {
  turns: measureTurns,
  grown: async () => [
    await measureGrownThreads({ warmUps: 2_000, turns: [2, 25, 250], threads: 5, rounds: 20 }),
  ],
  steps: async () => [await measureStepOverhead({ warmUps: 50, rounds })],
  pending: async () => [await measurePending({ rounds, many })],
  clicks: async () => [await measureClicks(200)],
  way: () => measureWholeWay({ warmUps: 300, alone: 100, atOnce: 50, rounds: 4 }),
  memory: async () => [await measureMemory(1_000)],
  start: async () => [await measureStartUp(7)],
  workers: async () => [await measureTwoWorkers({ warmUps: 2_000, batch: 600, rounds: 8 })],
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => measures[name] === undefined);
if (unknown.length > 0)
  throw new Error(
    `There is no measure ${unknown.join(', ')}; there are ${Object.keys(measures).join(', ')}.`,
  );

process.stdout.write(`Node ${process.version} on ${process.platform} ${process.arch}, ${rounds} rounds\n\n`);
for (const [name, measure] of Object.entries(measures)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const table of await measure()) process.stdout.write(`${writeTable(table)}\n`);
}
