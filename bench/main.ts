import { existsSync } from 'node:fs';
import { measurePeers } from './peers/measure-peers.ts';
import { measureStepOverhead } from './steps/step-overhead.ts';
import { measureHistory } from './store/history.ts';
import { measureLimits } from './store/limits.ts';
import { measurePending } from './store/pending.ts';
import { formatTable, type Table } from './support/table.ts';
import { measureTurns } from './turns/measure-turns.ts';
import { measureCrowd } from './way/crowded.ts';
import { measureDoor } from './way/door.ts';
import { measureWay } from './way/measure-way.ts';
import { measureProfile } from './way/profile.ts';
import { measureRush } from './way/rush.ts';
import { measureSlackCalls } from './way/slack-calls.ts';
import { measureCallbackMemory } from './worker/callback-memory.ts';
import { measureMemory } from './worker/memory.ts';
import { measureWorkers } from './worker/workers.ts';

const rounds = Number(process.env.COUNTERSIGN_BENCH_ROUNDS ?? 300);
const turnRounds = Number(process.env.COUNTERSIGN_BENCH_TURN_ROUNDS ?? 40);
const wayRounds = Number(process.env.COUNTERSIGN_BENCH_WAY_ROUNDS ?? 5);
const memoryThreads = Number(process.env.COUNTERSIGN_BENCH_MEMORY_THREADS ?? 5_000);
const many = Number(process.env.COUNTERSIGN_BENCH_PENDING ?? 100_000);
const hasPeers = existsSync(new URL('./peers/node_modules', import.meta.url));

/** The measures in their order; those of one name are asked for together. */
const measures: readonly (readonly [string, () => Promise<Table[]>])[] = [
  [
    'way',
    () => measureWay({ rounds: wayRounds, warmUps: 60, alone: 10, aloneSlow: 4, atOnce: 30, restMs: 20_000 }),
  ],
  ['way', () => measureSlackCalls()],
  ['profile', () => measureProfile({ warmUps: 60, actions: 150 })],
  ['rush', async () => [await measureRush(200)]],
  ['crowded', async () => [await measureCrowd(31)]],
  ['door', async () => [await measureDoor({ waiting: 1_000, probes: 40 })]],
  ['turns', () => measureTurns({ warmUps: 3_000, rounds: turnRounds })],
  ...(hasPeers ? ([['peers', () => measurePeers({ warmUps: 2_000, rounds: turnRounds })]] as const) : []),
  ['steps', async () => [await measureStepOverhead({ warmUps: 50, rounds })]],
  ['pending', async () => [await measurePending({ rounds, many })]],
  ['history', async () => [await measureHistory({ rounds, many: 10_000 })]],
  ['limits', async () => [await measureLimits({ rounds, many })]],
  ['memory', async () => [await measureMemory(memoryThreads), await measureCallbackMemory(10_000)]],
  [
    'workers',
    async () => [await measureWorkers({ teams: [1, 4, 8], warmUps: 2_000, batch: 800, rounds: 6 })],
  ],
];

const asked = process.argv.slice(2);
const names = [...new Set(measures.map(([name]) => name))];
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  const hint = hasPeers ? '' : ' "npm run bench:peers" installs the peers and measures beside them.';
  process.stderr.write(`No measure ${unknown.join(', ')}. The measures are ${names.join(', ')}.${hint}\n`);
  process.exit(1);
}

process.stdout.write(`Node ${process.version} on ${process.platform} ${process.arch}\n\n`);
for (const [name, measure] of measures) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const table of await measure()) process.stdout.write(`${formatTable(table)}\n`);
}
