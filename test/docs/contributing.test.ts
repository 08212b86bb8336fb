import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The examples of CONTRIBUTING.md: the heading before each diff, and the diff. */
const examples = [
  ...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /\*\*Add ([^*]+)\.\*\*(?:(?!\*\*Add )[\s\S])*?```diff\n([\s\S]*?)```/g,
  ),
].map(([, what = '', diff = '']) => ({
  what,
  diff,
  files: [...diff.matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, file = '']) => file),
}));

let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'contributing-'));
  const left = ['node_modules', '.git', 'dist', 'coverage'];
  for (const name of readdirSync(root).filter((each) => !left.includes(each)))
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('there is an example for a check, an ask kind, a slash word and an outbox row', () => {
  expect(examples.map(({ what }) => what)).toEqual([
    'a check before a start',
    'a kind of ask',
    'a word of the slash command',
    'a kind of outbox row',
  ]);
});

describe.each(examples)('the example for $what', ({ diff, files }) => {
  const tests = files.filter((file) => file.startsWith('test/'));
  const node = (...args: readonly string[]) =>
    run(process.execPath, [...args], { cwd: copy, maxBuffer: 1e8 }).catch(
      ({ stdout, stderr }: { stdout?: string; stderr?: string }) => {
        throw new Error(`${stdout ?? ''}\n${stderr ?? ''}`);
      },
    );
  const apply = async (...options: readonly string[]) => {
    writeFileSync(join(copy, 'example.diff'), diff);
    await run('git', ['apply', ...options, 'example.diff'], { cwd: copy });
  };
  const playTests = () => node('node_modules/vitest/vitest.mjs', 'run', ...tests);

  test('changes at most three files and one test', () => {
    expect(tests).toHaveLength(1);
    expect(files.length - tests.length).toBeLessThanOrEqual(3);
  });

  test('applies, compiles, and its test passes with it and fails without it', async () => {
    await apply();
    await node('node_modules/typescript/bin/tsc', '--noEmit');
    await playTests();
    await apply('--reverse', '--exclude=test/*');
    await expect(playTests()).rejects.toThrow();
    await apply('--reverse', '--include=test/*');
  });
});
