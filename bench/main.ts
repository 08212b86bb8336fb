import { measureStepOverhead } from './step-overhead.ts';
import { writeTable } from './table.ts';

const rounds = Number(process.env.COUNTERSIGN_BENCH_ROUNDS ?? 300);

const tables = [await measureStepOverhead({ warmUps: 50, rounds })];

process.stdout.write(`Node ${process.version} on ${process.platform} ${process.arch}, ${rounds} rounds\n\n`);
for (const table of tables) process.stdout.write(`${writeTable(table)}\n`);
