import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSecretFiles } from '../../src/load-environment.ts';
import { readSettings, secretsOf } from '../../src/settings.ts';
import { builtProduct } from '../support/built-product.ts';
import { GOOD, newFolder, type Ran, run, writeManifest } from './support.ts';

/** Runs a program of ours in a folder, with just this environment. */
async function runIn(
  folder: string,
  [program, ...args]: readonly [program: string, ...args: string[]],
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const argv = [join(await builtProduct(), program), ...args];
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
    execFile(process.execPath, argv, options, (error, out, text) =>
      resolve({ code: Number(error?.code ?? 0), out, error: text }),
    );
  });
}

test('every command reads .env in its folder, and variables set in the environment take precedence', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, '.env'), 'MANIFEST=from-file.yml\n');
  const check = ['cli.js', 'manifest', 'check'] as const;
  expect((await runIn(folder, check)).error).toContain('there is no from-file.yml');
  expect((await runIn(folder, check, { MANIFEST: 'from-shell.yml' })).error).toContain(
    'there is no from-shell.yml',
  );
});

test('--env-file names another file for every command, and one that is not there is said', async () => {
  const folder = newFolder();
  const file = join(newFolder(), 'settings');
  writeFileSync(file, 'MANIFEST=from-settings.yml\n');
  writeFileSync(join(folder, '.env'), 'MANIFEST=from-file.yml\n');
  const checked = await runIn(folder, ['cli.js', 'manifest', 'check', '--env-file', file]);
  expect(checked.error).toContain('there is no from-settings.yml');
  const { code, error } = await runIn(folder, ['cli.js', '--env-file', '/none', 'manifest', 'check']);
  // Node 20 reads this option of a script too, and says so itself.
  const byNode = [9, expect.stringMatching(/: \/none: not found\n$/)];
  const byUs = [2, expect.stringMatching(/^countersign: --env-file \/none: .+\n$/)];
  expect([code, error]).toEqual(process.version.startsWith('v20.') ? byNode : byUs);
});

test('the bot itself reads .env, and a setting that is missing is named with its source and its place', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=none\nREDIS_URL=redis://127.0.0.1:1\n');
  const { code, error } = await runIn(folder, ['main.js']);
  expect(code).toBe(1);
  expect(error).toMatch(/SLACK_BOT_TOKEN is not set; copy the "Bot User OAuth Token"/);
  expect(error).toMatch(/Put settings into \.env in this folder or into the environment/);
  expect(error).not.toMatch(/OPENAI_API_KEY|REDIS_URL/);
});

test('a secret comes from the file of its NAME_FILE, unless it is set; a file that cannot be read is named', async () => {
  const file = join(newFolder(), 'token');
  writeFileSync(file, 'xoxb-from-file\n');
  expect(withSecretFiles({ SLACK_BOT_TOKEN_FILE: file }).SLACK_BOT_TOKEN).toBe('xoxb-from-file');
  expect(withSecretFiles({ SLACK_BOT_TOKEN_FILE: file, SLACK_BOT_TOKEN: 'set' }).SLACK_BOT_TOKEN).toBe('set');
  // The key of the audit log has a setting of that name, which is read elsewhere.
  expect(withSecretFiles({ AUDIT_KEY_FILE: file }).AUDIT_KEY).toBeUndefined();
  const { out } = await run(
    ['doctor'],
    withSecretFiles({ OPENAI_API_KEY_FILE: '/none' }) as Record<string, string>,
  );
  expect(out).toContain('settings: OPENAI_API_KEY_FILE: /none cannot be read or is empty; put it into .env');
});

const SET = {
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_APP_TOKEN: 'xapp-1',
  OPENAI_API_KEY: 'key',
  REDIS_URL: 'redis://127.0.0.1:1',
};

test.each([
  ['OPENAI_BASE_URL', 'localhost:11434/v1'],
  ['PUBLIC_URL', 'bot.example.com:8443'],
  ['SLACK_API_URL', 'ftp://slack.test/api/'],
])('%s must be an address of the web, and not %s', (name, value) => {
  expect(readSettings({ ...SET, [name]: value })).toEqual({
    ok: false,
    problems: [`${name}: must be a URL that begins with https:// or http://`],
  });
  expect(readSettings({ ...SET, [name]: `http://${value.replace(/^ftp:../, '')}` }).ok).toBe(true);
});

test.each([
  ['HTTP_PROXY', 'proxy.corp:3128'],
  ['https_proxy', '10.0.0.1:3128'],
  ['HTTPS_PROXY', 'http://bot:pass-50%@proxy.corp:3128'],
  ['HTTP_PROXY', 'bot:pass-4711@proxy.corp:3128'],
])('%s must be an address; %s is named without its value', (name, value) => {
  const problem = `${name}: must be a URL such as http://proxy.corp:3128; encode special characters of a password`;
  expect(readSettings({ ...SET, [name]: value })).toEqual({ ok: false, problems: [problem] });
});

test('doctor names a proxy that is no address, and asks nothing around it', async () => {
  const HTTPS_PROXY = 'bot:pass-4711@proxy.corp:3128';
  const MANIFEST = writeManifest(GOOD);
  const { code, out, error } = await run(['doctor'], { ...SET, MANIFEST, HTTPS_PROXY });
  expect([code, error]).toEqual([1, '']);
  expect(out).toContain('settings: HTTPS_PROXY: must be a URL such as http://proxy.corp:3128');
  expect(out).not.toMatch(/pass-|slack bot token/);
});

test('a proxy may have a password, and be one of SOCKS', () => {
  for (const HTTPS_PROXY of [
    'http://bot:pass@proxy.corp:3128',
    'https://proxy.corp',
    'socks5://proxy.corp:1080',
  ])
    expect(readSettings({ ...SET, HTTPS_PROXY })).toMatchObject({
      ok: true,
      settings: { proxy: { httpsProxy: HTTPS_PROXY } },
    });
});

test('every secret among the settings is known, so that the log does not show it', () => {
  const secret = (what: string) => `${what}-secret-of-this-test-with-32-characters`;
  const environment = {
    ...SET,
    ...{ SLACK_SIGNING_SECRET: secret('signing'), CALLBACK_SECRET: secret('callback') },
    ...{ METRICS_TOKEN: secret('metrics'), CONNECTIONS_KEY: `${secret('new')}, ${secret('old')}` },
    ...{ AUDIT_KEY: secret('audit'), REDIS_MODE: 'sentinel', REDIS_SENTINEL_NAME: 'main' },
    ...{ REDIS_URL: 'redis://bot:re%2Fdis-4711@127.0.0.1:1', REDIS_SENTINEL_PASSWORD: 'sentinel-4711' },
    ...{ HTTP_PROXY: 'http://bot:http-4711@proxy.corp:1', HTTPS_PROXY: 'http://bot:https-4711@proxy.corp:1' },
  };
  const read = readSettings(environment);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const known = secretsOf(read.settings, environment);
  const whats = ['signing', 'callback', 'metrics', 'new', 'old', 'audit'];
  expect(known).toEqual(expect.arrayContaining(['xoxb-1', 'xapp-1', 'key', ...whats.map(secret)]));
  expect(known).toEqual(
    expect.arrayContaining(['re%2Fdis-4711', 're/dis-4711', 'sentinel-4711', 'http-4711', 'https-4711']),
  );
  const few = readSettings(SET);
  if (!few.ok) throw new Error(few.problems.join('\n'));
  expect(secretsOf(few.settings, SET)).not.toContain('');
});

test.each([['help'], ['-h'], ['--help']])('%s shows the commands', async (word) => {
  const { code, out } = await run([word]);
  expect([code, /^Usage: countersign <command>/.test(out)]).toEqual([0, true]);
});

test.each([
  [['nosuch', '--help'], 'unknown command "nosuch"'],
  [['help', 'nosuch'], 'unknown command "nosuch"'],
  [['help', 'manifest', 'nosuch'], 'unknown command "manifest nosuch"; use "manifest check"'],
])('help for what is no command is wrong usage: %j', async (argv, problem) => {
  expect(await run(argv)).toEqual({ code: 2, out: '', error: expect.stringContaining(problem) });
  expect(await run(['help', 'manifest'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('manifest check'),
  });
});

test('help with a command shows how it is used, and -v the version', async () => {
  expect((await run(['help', 'manifest', 'check'])).out).toMatch(/^Usage: countersign manifest check/);
  expect(await run(['-v'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
