import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { startPrivateRedis } from '../store/private-redis.ts';
import { readText } from './files.ts';
import { playDockerfile } from './play-dockerfile.ts';

const MEGABYTE = 1024 * 1024;
/** The size of node:24-alpine; the rest of 250 MB is ours. */
const BASE_MEGABYTES = 165;
const PING = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };

test("the image's steps, run in a clean folder, give a bot that makes its configuration, connects and is healthy", async () => {
  const below = mkdtempSync(join(tmpdir(), 'countersign-image-'));
  onTestFinished(() => rmSync(below, { recursive: true, force: true }));
  const { root, folder, environment, command, healthCheck } = playDockerfile('deploy/Dockerfile', below);
  const { stdout: size } = await promisify(execFile)('du', ['-sb', root]);
  expect(Number.parseInt(size, 10) / MEGABYTE).toBeLessThan(250 - BASE_MEGABYTES);

  expectPackages(folder);

  const redis = await startPrivateRedis(({ port, folder: data }) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', data, '--daemonize', 'no', '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
  ]);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack({ app: appFromManifest(SHIPPED_SLACK) });
  onTestFinished(() => slack.stop());
  const model = await startLocalModel({ script: () => PING });
  onTestFinished(() => model.stop());
  const env = {
    PATH: process.env.PATH,
    ...environment,
    MANIFEST: join(root, environment.MANIFEST ?? ''),
    PORT: String(await findFreePort()),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
    REDIS_URL: redis.url,
  };
  const run = ([program = '', ...args]: readonly string[]) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const codeOf = async (words: readonly string[]): Promise<unknown> => (await once(run(words), 'close'))[0];

  const init = ['init', dirname(env.MANIFEST), '--approvers', '@approvers', '--admins', 'ada'];
  const made = run(['node', 'dist/bin/cli.js', ...init, '--redis', redis.url, '--base-url', model.url]);
  expect(await text(made.stdout)).toContain('\nNext: ');

  const bot = run(command);
  for await (const line of createInterface(bot.stdout)) if (line.includes('connected to Slack')) break;
  bot.stdout.resume();
  expect(await codeOf(healthCheck)).toBe(0);
  bot.kill('SIGTERM');
  expect((await once(bot, 'close'))[0]).toBe(0);
  expect(await codeOf(healthCheck)).toBe(1);
});

/** Checks that the SBOM lists every dependency with a licence and nothing of the development tools, and that only unbundled packages lie beside the bundle. */
function expectPackages(folder: string): void {
  const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    components: { group?: string; name: string; licenses?: unknown[] }[];
  };
  const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(names).not.toContain('vitest');
  expect(components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
  expect(readFileSync(join(folder, 'dist/THIRD_PARTY_LICENSES'), 'utf8')).toContain('\nioredis ');
  expect(existsSync(join(folder, 'node_modules/tsx'))).toBe(true);
  expect(existsSync(join(folder, 'node_modules/ioredis'))).toBe(false);
}
