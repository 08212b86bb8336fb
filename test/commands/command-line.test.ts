import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nonEmpty } from '../support/non-empty.ts';
import { run, writeManifest } from './support.ts';

const COMMANDS = [
  'init',
  'start',
  'manifest check',
  'manifest slack',
  'manifest link',
  'manifest push',
  'doctor',
  'pending',
  'show',
  'cancel',
  'resolve',
  'stats',
  'usage',
  'audit',
  'audit verify',
];

test('--help names every command', async () => {
  const { code, out } = await run(['--help']);
  expect(code).toBe(0);
  for (const name of COMMANDS) expect(out).toContain(`\n  ${name} `);
});

test.each(COMMANDS)('%s --help says how it is used, and does nothing', async (name) => {
  const { code, out, error } = await run([...name.split(' '), '--help']);
  expect([code, error]).toEqual([0, '']);
  expect(out).toMatch(new RegExp(`^Usage: countersign ${name}( |\\n)`));
});

test('manifest --help names the commands of the manifest only', async () => {
  const { code, out } = await run(['manifest', '--help']);
  expect([code, /manifest push/.test(out), /doctor/.test(out)]).toEqual([0, true, false]);
});

describe('what is not understood ends with 2, says why, and where to look', () => {
  test.each([
    [[], 'no command given'],
    [['mainfest'], 'unknown command "mainfest"'],
    [['manifest'], '"manifest" needs a subcommand: "manifest check", '],
    [['manifest', 'chekc'], 'unknown command "manifest chekc"'],
    [['manifest', 'check', '--fix'], "Unknown option '--fix'"],
    [['manifest', 'check', 'a.yml', 'b.yml'], 'unexpected argument "b.yml"'],
    [['manifest', 'slack', '--http'], "Option '--http <value>' argument missing"],
    [['manifest', 'slack', '--http', 'http://bot.example.com'], '--http needs a public https URL'],
    [['manifest', 'link', '--http', 'bot.example.com'], '--http needs a public https URL'],
    [['manifest', 'push', '--app-id', 'C012ABCDEF'], '--app-id needs the id of an app'],
    [['doctor', 'now'], 'unexpected argument "now"'],
    [['audit', '--after'], "Option '--after <value>' argument missing"],
    [['audit', 'verfiy'], 'unexpected argument "verfiy"'],
    [['pending', '-x'], "Unknown option '-x'"],
    [['show'], 'name a request'],
    [['resolve', 'T~1'], 'give one of --ran and --did-not-run'],
    [['resolve', 'T~1', '--ran', '--did-not-run'], 'give one of --ran and --did-not-run'],
    [['resolve', 'T~1', '--run-again'], "Unknown option '--run-again'"],
  ])('%j', async (argv, why) => {
    const { code, out, error } = await run(argv);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(why);
    expect(error).toMatch(/See "countersign.*--help"\.\n$/);
  });
});

test.each([['pending'], ['audit'], ['audit', 'verify']])(
  '%s %s without Redis names the setting, or where Redis is not, and nothing else',
  async (...argv) => {
    expect(await run(argv)).toMatchObject({
      code: 1,
      error: expect.stringMatching(
        /: REDIS_URL is not set; such as redis:\/\/127\.0\.0\.1:6379; put it into \.env\n$/,
      ),
    });
    const secret = 'redis://:hidden-word@127.0.0.1:1';
    const { code, error } = await run(argv, { REDIS_URL: secret });
    expect(code).toBe(1);
    expect(error).toMatch(/Redis at redis:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
    expect(error).not.toMatch(/hidden-word|\n {4}at /);
  },
);

test('the program itself gives the exit code and writes no stack', async () => {
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
  const tsx = createRequire(import.meta.url).resolve('tsx');
  const bad = writeManifest('tolls: {}\n');
  const result = await new Promise<{ code: unknown; out: string; error: string }>((resolve) => {
    execFile(process.execPath, ['--import', tsx, cli, 'manifest', 'check', bad], (error, out, text) =>
      resolve({ code: error?.code ?? 0, out, error: text }),
    );
  });
  expect(result.code).toBe(1);
  expect(result.out).toBe('');
  expect(result.error).toMatch(/manifest\.yml:1:1: .*did you mean "tools"/);
  expect(result.error).not.toMatch(/\n {4}at /);
});

test('the help of every command says its exit codes', async () => {
  const { out } = await run(['help']);
  const names = [...out.matchAll(/^ {2}(?:countersign )?([a-z]+(?: [a-z]+)?) {2,}/gm)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(25);
  for (const name of nonEmpty(names))
    expect((await run(['help', ...name.split(' ')])).out, name).toMatch(/Exit codes?: 0 .*, 2 wrong usage\./);
});
