import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { CELLS } from './cells/cells.ts';
import { type CellResult, playCell } from './play-cell.ts';
import { buildWorker } from './world/build-worker.ts';

const USAGE =
  'npm run faults -- [--only <part of a name>]… [--rounds <number>] [--minutes <number>] [--tally <file>]';
const Tallies = z.record(z.string(), z.record(z.string(), z.number()));
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

const { only, rounds, minutes, tallyFile } = readOptions();
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
  const run = {
    onProgress: (text: string) => console.error(`  ${cell.name}: ${text}`),
    earlier: new Map(Object.entries(readTallies()[cell.name] ?? {})),
    endsAt: minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000,
  };
  const result = await playCell(cell, { built, rounds: rounds ?? cell.rounds.long, keepLogIn, run });
  results.push(result);
  console.log(toRow(cellsOf(result)));
  for (const { invariant, what } of result.violations.slice(0, 20)) console.error(`  (${invariant}) ${what}`);
  if (result.violations.length === 0) keepTally(result);
  if (result.violations.length > 0) console.error(`  what the workers logged is in ${keepLogIn}`);
}
process.exit(results.some(({ violations }) => violations.length > 0) ? 1 : 0);

/** Reads how often each point failed in earlier sittings, by fault. */
function readTallies(): z.infer<typeof Tallies> {
  if (tallyFile === undefined || !existsSync(tallyFile)) return {};
  return Tallies.parse(JSON.parse(readFileSync(tallyFile, 'utf8')));
}

/** Keeps the tally of a sitting without a violation, so that the next one plays what is missing. */
function keepTally({ fault, tally }: CellResult): void {
  if (tallyFile === undefined || tally.size === 0) return;
  const all = { ...readTallies(), [fault]: Object.fromEntries([...tally].toSorted()) };
  writeFileSync(tallyFile, `${JSON.stringify(all, undefined, 2)}\n`);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        minutes: { type: 'string' },
        tally: { type: 'string' },
      },
    });
    const { only, tally: tallyFile } = values;
    return {
      only,
      rounds: readNumber('rounds', values.rounds),
      minutes: readNumber('minutes', values.minutes),
      tallyFile,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(1);
  }
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} is a number from 1`);
  return Number(text);
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
