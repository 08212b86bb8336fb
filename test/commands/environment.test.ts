import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSecretFiles } from '../../src/load-environment.ts';
import { builtProduct } from '../support/built-product.ts';
import { newFolder, type Ran, run } from './support.ts';

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

test.each([['help'], ['-h'], ['--help']])('%s shows the commands', async (word) => {
  const { code, out } = await run([word]);
  expect([code, /^Usage: countersign <command>/.test(out)]).toEqual([0, true]);
});

test('help with a command shows how it is used, and -v the version', async () => {
  expect((await run(['help', 'manifest', 'check'])).out).toMatch(/^Usage: countersign manifest check/);
  expect(await run(['-v'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
