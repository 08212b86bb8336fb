import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The examples that CONTRIBUTING.md links: what each adds, and its diff. */
const examples = [
  ...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /\*\*Add ([^*]+)\*\* \(\[diff\]\(([^)]+)\)\)/g,
  ),
].map(([, what = '', file = '']) => {
  const diff = readFileSync(join(root, file), 'utf8');
  return { what, diff, files: [...diff.matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, name = '']) => name) };
});

let copy = '';

beforeAll(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'contributing-')));
  const left = ['node_modules', '.git', 'dist', 'coverage'];
  for (const name of readdirSync(root).filter((each) => !left.includes(each)))
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('there is an example for a check, a facet, an ask kind, a slash word and an outbox row', () => {
  expect(examples.map(({ what }) => what)).toEqual([
    'a check before a start',
    'a facet',
    'a kind of ask',
    'a word of the slash command',
    'a kind of outbox row',
  ]);
});

test.each(examples)('the example for $what changes at most three files and one test', ({ files }) => {
  const tests = files.filter(isTest);
  expect(tests).toHaveLength(1);
  expect(files.length - tests.length).toBeLessThanOrEqual(3);
});

test('the examples apply and compile together, and the test of each passes with it and fails without it', async () => {
  const apply = async (...options: readonly string[]) => {
    writeFileSync(join(copy, 'example.diff'), examples.map(({ diff }) => diff).join(''));
    await run('git', ['apply', ...options, 'example.diff'], { cwd: copy });
  };
  const tests = examples.flatMap(({ files }) => files.filter(isTest));
  await apply();
  await node('node_modules/typescript/bin/tsc', '--noEmit');
  expect(await failing(tests)).toEqual([]);
  await apply('--reverse', '--exclude=test/*');
  expect(await failing(tests)).toEqual([...tests].sort());
});

function isTest(file: string): boolean {
  return file.startsWith('test/');
}

async function node(...args: readonly string[]): Promise<void> {
  await run(process.execPath, [...args], { cwd: copy, maxBuffer: 1e8 }).catch(
    ({ stdout, stderr }: { stdout?: string; stderr?: string }) => {
      throw new Error(`${stdout ?? ''}\n${stderr ?? ''}`);
    },
  );
}

const Report = z.object({ testResults: z.array(z.object({ name: z.string(), status: z.string() })) });

/** Plays test files, and returns those that fail. */
async function failing(tests: readonly string[]): Promise<string[]> {
  const file = join(copy, 'report.json');
  rmSync(file, { force: true });
  const played = node(
    ...['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${file}`],
    ...tests,
  );
  await played.catch(() => {});
  const { testResults } = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(testResults).toHaveLength(tests.length);
  return testResults
    .filter(({ status }) => status !== 'passed')
    .map(({ name }) => relative(copy, name))
    .sort();
}
