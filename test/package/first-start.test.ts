import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { newFolder } from '../commands/support.ts';
import { startPrivateRedis } from '../store/private-redis.ts';
import { packPackage, ROOT } from './pack-package.ts';

const MOST_BYTES = 125 * 1024 * 1024;
const PING = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };
/** The folder of the Node that the bot runs on; without one it is that of the tests. */
const NODE = process.env.COUNTERSIGN_NODE;
const PATH = NODE === undefined ? process.env.PATH : `${NODE}:${process.env.PATH}`;
const execute = promisify(execFile);

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

async function keepingRedis() {
  const redis = await startPrivateRedis(({ port, folder }) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no', '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
  ]);
  onTestFinished(() => redis.stop());
  return redis;
}

test('from an empty folder and the tarball: init, doctor, start, and an approved action', async () => {
  const times: Record<string, number> = {};
  const timed = async <Value>(what: string, work: () => Promise<Value>): Promise<Value> => {
    const begin = performance.now();
    const value = await work();
    times[what] = Math.round(performance.now() - begin);
    return value;
  };
  // A release tries the package that it has made.
  const given = process.env.COUNTERSIGN_TARBALL;
  const tarball = given ?? (await timed('pack', () => packPackage(newFolder())));
  const folder = join(newFolder(), 'bot');
  mkdirSync(folder);
  await timed('install', () =>
    execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], {
      cwd: folder,
      env: { ...process.env, PATH },
    }),
  );
  expect(sizeOf(join(folder, 'node_modules'))).toBeLessThan(MOST_BYTES);

  const redis = await keepingRedis();
  const slack = await startLocalSlack({ app: appFromManifest(SHIPPED_SLACK) });
  onTestFinished(() => slack.stop());
  const ticket = { name: 'open_ticket', arguments: { title: 'Door is stuck' } };
  const model = await startLocalModel({ script: [PING, PING, { calls: [ticket] }, { text: 'It is open.' }] });
  onTestFinished(() => model.stop());
  const env = { PATH, HOME: process.env.HOME };
  const secrets = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
  };
  const flags = ['--approvers', '@approvers', '--admins', 'ada', '--redis', redis.url];
  const ours = ['--base-url', model.url, '--model', 'scripted'];
  const made = await timed('init', () =>
    execute('npx', ['countersign', 'init', ...flags, ...ours], { cwd: folder, env: { ...env, ...secrets } }),
  );
  expect(made.stdout).toMatch(/\nNext: npx countersign start\n$/);

  // From here on everything comes from the files.
  const checked = await timed('doctor', () =>
    execute('npx', ['countersign', 'doctor'], { cwd: folder, env }),
  );
  // The package has no decoder for images, which the doctor does not let pass in silence.
  expect(checked.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('ok '))).toEqual([
    expect.stringMatching(/^warning {2}images: images are not read, .* npm install sharp/),
  ]);
  const sample = ['--import', 'tsx', '--test', 'tools/open-ticket.test.mts'];
  await execute(NODE === undefined ? process.execPath : join(NODE, 'node'), sample, { cwd: folder, env });
  const tested = await execute('npx', ['countersign', 'manifest', 'test'], { cwd: folder, env });
  expect(tested.stdout).toContain('1 case, all as expected');
  await checkTypes(folder);

  const child = spawn(join(folder, 'node_modules/.bin/countersign'), ['start'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await timed('start', async () => {
    for await (const line of createInterface(child.stdout)) if (line.includes('connected to Slack')) return;
    throw new Error('The bot ended before it was connected.');
  });
  child.stdout.resume();

  await timed('approved action', async () => {
    const { workspace } = slack;
    const mention = `<@${workspace.state.app.botUserId}> the door is stuck`;
    const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
    const shows = (words: RegExp) =>
      workspace.until(
        () =>
          workspace
            .messagesIn(CHANNELS.general, ts)
            .find(({ text, blocks }) => words.test(`${text}${JSON.stringify(blocks ?? [])}`)),
        { what: String(words) },
      );
    const card = await shows(/Door is stuck[\s\S]*approve/);
    expect(existsSync(join(folder, 'tickets.jsonl'))).toBe(false);
    await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, 'approve');
    await shows(/It is open\./);
  });
  expect(JSON.parse(readFileSync(join(folder, 'tickets.jsonl'), 'utf8'))).toMatchObject({
    title: 'Door is stuck',
    requester: CAST.requester,
  });
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
  process.stdout.write(`first start, in milliseconds: ${JSON.stringify(times)}\n`);
});

/** Compiles a program that uses the library, strictly and with its declarations checked, against the installed package. */
async function checkTypes(folder: string): Promise<void> {
  writeFileSync(
    join(folder, 'use.mts'),
    `import { type Bot, createBot, defineTool, generate, type Model, openAIModel } from 'countersign';
import { z } from 'zod';
const tool = defineTool(
  { name: 'add', description: 'Adds.', inputSchema: z.object({ a: z.number() }) },
  async ({ a }) => a + 1,
);
const model = openAIModel({ model: 'm', apiKey: 'k' });
export const text: Promise<string> = generate({ model, tools: [tool], prompt: 'p' }).then((response) => response.text);
export const bot: Bot = createBot({ manifest: 'manifest.yml', tools: [tool], model });
const silent: Model = { name: 'silent', reply: async () => ({ finish: 'stop', text: '', calls: [], usage: undefined }) };
export const other = createBot({ model: silent });
// @ts-expect-error A tool is made with defineTool.
export const unmade = createBot({ tools: [{ name: 'add' }] });
// @ts-expect-error A model is needed.
export const wrong = generate({ tools: [tool], prompt: 'p' });
`,
  );
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', ''];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await execute(process.execPath, [tsc, ...options, 'use.mts'], { cwd: folder });
}
