import { measureClicks } from './slack/clicks.ts';
import { measureStepOverhead } from './step-overhead.ts';
import { measurePending } from './store/pending.ts';
import { writeTable } from './table.ts';
import { measureTurns } from './turn/measure-turns.ts';

const rounds = Number(process.env.COUNTERSIGN_BENCH_ROUNDS ?? 300);
const many = Number(process.env.COUNTERSIGN_BENCH_PENDING ?? 100_000);

const tables = [
  ...(await measureTurns()),
  await measureStepOverhead({ warmUps: 50, rounds }),
  await measurePending({ rounds, many }),
  await measureClicks(200),
];

process.stdout.write(`Node ${process.version} on ${process.platform} ${process.arch}, ${rounds} rounds\n\n`);
for (const table of tables) process.stdout.write(`${writeTable(table)}\n`);
