import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import { startLocalSlack } from '../playground/slack/start-local-slack.ts';
import { manifestIn } from '../src/store/documents/manifest.ts';
import { openRedisStore } from '../src/store/redis/redis-store.ts';
import { writeManifest } from './commands/support.ts';
import { plainArguments, startPrivateRedis } from './store/private-redis.ts';
import { builtProduct } from './support/built-product.ts';

let built: string;
beforeAll(async () => {
  built = await builtProduct();
});

const starter = readFileSync(new URL('../manifest.yml', import.meta.url), 'utf8');

/** Runs the bot as production does, with nothing but its environment. */
function runMain(
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  cwd: string = process.cwd(),
) {
  const child = spawn(process.execPath, [join(built, 'main.js'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let error = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const lines = createInterface(child.stdout);
  const logs = (words: string) =>
    new Promise<void>((resolve) => {
      lines.on('line', (line) => line.includes(words) && resolve());
    });
  const connected = logs('connected to Slack');
  const ended = once(child, 'close').then(([code]) => ({ code, error }));
  return { child, logs, connected, ended };
}

test('a start on an empty Redis writes keys of the record only, and leaves no trace of the examples', async () => {
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack();
  onTestFinished(() => slack.stop());
  const model = await startLocalModel({ script: [] });
  onTestFinished(() => model.stop());
  const manifest = starter
    .replaceAll('U0REPLACEME', CAST.admin)
    .replaceAll('S0REPLACEME', APPROVERS_GROUP)
    .replaceAll('C0REPLACEME', CHANNELS.general);
  const { child, connected, ended } = runMain({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: model.url,
    REDIS_URL: redis.url,
    MANIFEST: writeManifest(manifest),
    PORT: '0',
  });
  await Promise.race([connected, ended.then(({ error }) => Promise.reject(new Error(error)))]);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, error: '' });
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const keys = await client.keys('*');
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.filter((key) => !/^\{?countersign[:}]/.test(key))).toEqual([]);
  expect(keys.filter((key) => /shop|order|refund|ledger|sample/i.test(key))).toEqual([]);
});

test('a variable that is new in .env is read with the manifest that names it', async () => {
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack();
  onTestFinished(() => slack.stop());
  const model = await startLocalModel({ script: [] });
  onTestFinished(() => model.stop());
  const manifest = `agent: { admins: [${CAST.admin}] }\npolicies: { default: { approvers: [${APPROVERS_GROUP}] } }\n`;
  const folder = dirname(writeManifest(manifest));
  const settings = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: model.url,
    REDIS_URL: redis.url,
    PORT: '0',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  const { child, logs, connected, ended } = runMain({}, [], folder);
  const reloaded = logs('manifest reloaded');
  await Promise.race([connected, ended.then(({ error }) => Promise.reject(new Error(error)))]);
  writeFileSync(join(folder, '.env'), [...lines, 'PING_TOKEN=hidden-word\n'].join(''));
  const headers = `{ authorization: "\${PING_TOKEN}" }`;
  const ping = `{ description: Pings., http: { method: GET, url: "https://example.com/", headers: ${headers} } }`;
  writeFileSync(join(folder, 'manifest.yml'), `${manifest}tools: { ping: ${ping} }\n`);
  await reloaded;
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, error: '' });
});

test('a start on a record whose governed manifest cannot be read ends with what is wrong and what to do', async () => {
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const store = openRedisStore({ client: new Redis(redis.url) });
  onTestFinished(() => store.close());
  const text =
    'agent: { sign_with: pen, policy_changes: { approvers: [U0BOSS0001], channel: C0POLICIES } }\n';
  await manifestIn(store).recordManifest(undefined, {
    digest: 'former',
    text,
    lock: undefined,
    isGoverned: true,
  });
  const { ended } = runMain({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    OPENAI_API_KEY: 'none',
    REDIS_URL: redis.url,
    MANIFEST: writeManifest(starter.replace(/[USC]0REPLACEME/g, (id) => id.replace('REPLACEME', 'SOMEBODY'))),
  });
  const { code, error } = await ended;
  expect(code).toBe(1);
  expect(error).toMatch(
    /^countersign cannot start:\n {2}the recorded manifest \(former\) requires approval for changes/,
  );
  expect(error).toContain('the recorded manifest:1:10: agent.sign_with: unknown key "sign_with"');
  expect(error).toContain('countersign manifest adopt --reason');
});

test('a start with placeholders ends at once and names each of them', async () => {
  const { ended } = runMain({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    OPENAI_API_KEY: 'none',
    REDIS_URL: 'redis://127.0.0.1:1',
    MANIFEST: writeManifest(starter),
  });
  const { code, error } = await ended;
  expect(code).toBe(1);
  expect(error).toMatch(/^countersign cannot start:\n/);
  expect(error.match(/manifest\.yml:\d+:\d+: \S+: "[USC]0REPLACEME" is a placeholder/g)).toHaveLength(
    starter.replace(/^\s*#.*$/gm, '').match(/[USC]0REPLACEME/g)?.length ?? 0,
  );
});

test('a start with a tool that is missing ends at once, unless that is allowed; then the admins are told', async () => {
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack();
  onTestFinished(() => slack.stop());
  const model = await startLocalModel({ script: [] });
  onTestFinished(() => model.stop());
  const environment = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: model.url,
    REDIS_URL: redis.url,
    MANIFEST: writeManifest(
      `agent: { admins: [${CAST.admin}] }\npolicies: { default: { approvers: [${APPROVERS_GROUP}] } }\ntools: { gone: { module: ./gone.ts } }\n`,
    ),
    PORT: '0',
  };
  const { code, error } = await runMain(environment).ended;
  expect(code).toBe(1);
  expect(error).toMatch(
    /^countersign cannot start:\n {2}\S+:3:26: tools\.gone\.module: there is no file \.\/gone\.ts/,
  );
  expect(error).toContain('--allow-missing-tools starts the bot with the other tools.');

  const { child, ended } = runMain(environment, ['--allow-missing-tools']);
  const { workspace } = slack;
  await workspace.until(
    () =>
      workspace
        .messagesIn(workspace.directMessages(CAST.admin))
        .find(({ text }) => text.includes('there is no file ./gone.ts')),
    { what: 'a notice for the admin' },
  );
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
});

test('a parameter that the model refuses is told to the admins at the start', async () => {
  const redis = await startPrivateRedis(plainArguments);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack();
  onTestFinished(() => slack.stop());
  const message =
    "Unsupported parameter: 'temperature' is not supported with this model <!channel> and the key hidden-word.";
  const error = {
    message,
    type: 'invalid_request_error',
    param: 'temperature',
    code: 'unsupported_parameter',
  };
  const ping = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };
  const model = await startLocalModel({ script: [{ status: 400, body: { error } }, ping] });
  onTestFinished(() => model.stop());
  const manifest = starter
    .replace('agent:\n', 'agent:\n  model: { temperature: 0.5 }\n')
    .replaceAll('U0REPLACEME', CAST.admin)
    .replaceAll('S0REPLACEME', APPROVERS_GROUP)
    .replaceAll('C0REPLACEME', CHANNELS.general);
  const { child, ended } = runMain({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'hidden-word',
    OPENAI_BASE_URL: model.url,
    REDIS_URL: redis.url,
    MANIFEST: writeManifest(manifest),
    PORT: '0',
  });
  const { workspace } = slack;
  const told = await workspace.until(
    () =>
      workspace
        .messagesIn(workspace.directMessages(CAST.admin))
        .find(({ text }) => /needs attention/.test(text)),
    { what: 'a message to the admin', timeoutMs: 50_000 },
  );
  expect(told.text).toContain('refuses agent.model.temperature');
  expect(told.text).not.toMatch(/<!channel>|hidden-word/);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, error: '' });
});

test.each([
  ['never ends', 'new Promise(() => {})'],
  ['leaves a connection open', 'Promise.resolve()'],
])('a stop that %s ends the process', async (_, stopped) => {
  const program = `
    import { createServer } from 'node:net';
    import { stopProcess } from '${new URL('../src/stop-process.ts', import.meta.url)}';
    createServer().listen(0);
    await stopProcess({ stop: () => ${stopped} }, { withinMs: 1 });
  `;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
});
