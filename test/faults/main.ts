import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CELLS } from './cells/cells.ts';
import { type CellResult, playCell } from './play-cell.ts';
import { buildWorker } from './world/build-worker.ts';

const USAGE = 'npm run faults -- [--only <part of a name>]… [--rounds <number>]';
const HEAD = [
  'fault',
  'rounds',
  'threads',
  'effects',
  'approved, of them carried out',
  'violations',
  'seconds',
  '',
];

const { only, rounds } = readOptions();
const cells = CELLS.filter(({ name }) => only === undefined || only.some((part) => name.includes(part)));
if (cells.length === 0) {
  console.error(
    `No fault is called so: ${only?.join(', ')}. There are: ${CELLS.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(1);
}

const built = await buildWorker();
process.once('exit', () => rmSync(built, { recursive: true, force: true }));
const results: CellResult[] = [];
console.log(toRow(HEAD));
console.log(toRow(HEAD.map(() => '---')));
for (const cell of cells) {
  const keepLogIn = join(tmpdir(), `countersign-faults-${cell.name.replaceAll(/\W+/g, '-')}.log`);
  const result = await playCell(cell, { built, rounds: rounds ?? cell.rounds.long, keepLogIn });
  results.push(result);
  console.log(toRow(cellsOf(result)));
  for (const { invariant, what } of result.violations.slice(0, 20)) console.error(`  (${invariant}) ${what}`);
  if (result.violations.length > 0) console.error(`  what the workers logged is in ${keepLogIn}`);
}
process.exit(results.some(({ violations }) => violations.length > 0) ? 1 : 0);

function readOptions(): { only: readonly string[] | undefined; rounds: number | undefined } {
  try {
    const { values } = parseArgs({
      options: { only: { type: 'string', multiple: true }, rounds: { type: 'string' } },
    });
    const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
    if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
      throw new Error('--rounds is a number from 1');
    return { only: values.only, rounds };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(1);
  }
}

function cellsOf({
  fault,
  rounds,
  threads,
  effects,
  approved,
  executed,
  violations,
  seconds,
  remark,
}: CellResult) {
  const share = approved === 0 ? '' : `${approved}, ${((100 * executed) / approved).toFixed(1)} %`;
  return [fault, rounds, threads, effects, share, violations.length, seconds, remark].map(String);
}

function toRow(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`;
}
