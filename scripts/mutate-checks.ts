import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFile, MUTANTS, type Mutant } from './mutants.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Copies the repository without its packages, which the copy shares. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
  const left = ['node_modules', '.git', 'dist', 'coverage'];
  for (const name of readdirSync(root).filter((each) => !left.includes(each)))
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

type Outcome = 'killed' | 'survived' | 'timed out' | 'not found';

/** Runs the tests of a mutant, which one of them must kill; a run that takes too long says nothing. */
function play(copy: string, tests: readonly string[], timeout = 300_000): Promise<Outcome> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', ...tests];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: copy, timeout, maxBuffer: 1e9 }, (error) =>
      resolve(error === null ? 'survived' : error.killed === true ? 'timed out' : 'killed'),
    );
  });
}

async function playMutant(copy: string, { text, becomes, tests }: Mutant): Promise<Outcome> {
  const file = findFile(copy, text);
  if (file === undefined) return 'not found';
  const before = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    before.replace(text, () => becomes),
  );
  const outcome = await play(copy, tests);
  writeFileSync(file, before);
  return outcome;
}

const only = process.argv.slice(2);
const chosen = MUTANTS.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
const copy = copyRepository();
const rows: string[] = [];
try {
  const tests = [...new Set(chosen.flatMap((each) => each.tests))];
  const whole = await play(copy, tests, 1_800_000);
  if (whole !== 'survived') throw new Error(`The tests fail without a mutant: ${tests.join(' ')}`);
  for (const each of chosen) {
    const outcome = await playMutant(copy, each);
    console.log(`${each.name}: ${outcome}`);
    if (outcome !== 'killed') rows.push(`| ${each.name} | ${outcome} |`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`\n${chosen.length - rows.length} of ${chosen.length} killed`);
if (rows.length > 0) console.log(['| not killed | outcome |', '| --- | --- |', ...rows].join('\n'));
process.exitCode = rows.length === 0 ? 0 : 1;
