import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { isMap, parseDocument, visit } from 'yaml';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { run } from '../commands/support.ts';
import { CAST, SHIPPED_APP, startStory } from './support.ts';

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../examples/${name}/manifest.yml`, import.meta.url));
const environment = {
  PLATFORM_SECRET: 'secret-of-the-platform',
  DIRECTORY_TOKEN: 'token-of-the-directory',
  RELEASE_JOB_KEY: 'k'.repeat(43),
  PAGE_CLIENT_SECRET: 's'.repeat(43),
};

/** Counts the lines without comments, and the keys. */
function sizeOf(name: string): string {
  const file = readFileSync(fileOf(name), 'utf8');
  const lines = file.split('\n').filter((line) => !/^\s*(#|$)/.test(line)).length;
  let keys = 0;
  visit(parseDocument(file), (_key, node) => {
    if (isMap(node)) keys += node.items.length;
  });
  return `${lines} | ${keys}`;
}

test.each(['shop', 'sre', 'helpdesk'])(
  'the manifest of the %s has no mistake, and its size is in the docs',
  async (name) => {
    expect(await run(['manifest', 'check', fileOf(name)], environment)).toMatchObject({ code: 0, error: '' });
    const page = readFileSync(new URL('../../docs/configure.md', import.meta.url), 'utf8');
    expect(page).toContain(`| \`examples/${name}\` | ${sizeOf(name)} |`);
  },
);

interface Received {
  readonly call: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** Starts the API of a company; returns its manifest with the address of that API, and what the API received. */
async function startCompany(
  name: string,
  answers: Readonly<Record<string, (count: number) => [number, unknown]>>,
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const call = `${request.method} ${request.url}`;
    received.push({ call, authorization: request.headers.authorization, body: await text(request) });
    const count = received.filter((each) => each.call === call).length;
    const [status, value] = answers[call]?.(count) ?? [404, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }).listen(0, 'localhost');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const origin = `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const manifest = readFileSync(fileOf(name), 'utf8')
    .replaceAll(/https:\/\/\w+\.example\.com(?:\/api)?/g, origin)
    .replace('http_defaults:\n', 'http_defaults:\n  allow_private: [localhost]\n')
    // A story must not depend on the day it is played.
    .replace(/ {6}- \{ require: deny, when: "[^\n]*friday[^\n]*\n/, '');
  return { manifest, received };
}

const deploy = {
  name: 'deploy_service',
  arguments: { service: 'checkout', version: '2.5.0', environment: 'production' },
};
const PLATFORM = {
  'POST /oauth2/token': () => [
    200,
    { access_token: 'platform-token', token_type: 'bearer', expires_in: 3600 },
  ],
  'GET /v1/services/checkout': () => [200, { version: '2.4.1' }],
  'POST /v1/deployments': () => [202, { id: 'd-7' }],
  'GET /v1/deployments/d-7': (count: number) => [200, { status: count < 2 ? 'running' : 'live' }],
} satisfies Readonly<Record<string, (count: number) => [number, unknown]>>;

test('the SRE team: an approved deployment runs with the token of the platform, and its end is the result', async () => {
  const { manifest, received } = await startCompany('sre', PLATFORM);
  const story = await startStory({
    manifest,
    environment,
    replies: [{ calls: [deploy] }, { text: 'It is live.' }],
  });
  const thread = story.ask('deploy checkout 2.5.0 to production');
  await thread.shows(/Deploy[\s\S]*checkout[\s\S]*2\.5\.0[\s\S]*to production/);
  await thread.shows(/2\.4\.1 runs[\s\S]*2\.5\.0 will run/);
  expect(received.some(({ call }) => call === 'POST /v1/deployments')).toBe(false);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/It is live\./);
  expect(story.toldOfCalls().at(-1)).toContain('live');
  const sent = received.filter(({ call }) => call === 'POST /v1/deployments');
  expect(sent).toEqual([
    {
      call: 'POST /v1/deployments',
      authorization: 'Bearer platform-token',
      body: '{"service":"checkout","version":"2.5.0","environment":"production"}',
    },
  ]);
});

test('the SRE team: in a change freeze nobody is asked, and what was approved before it does not start', async () => {
  const { manifest, received } = await startCompany('sre', PLATFORM);
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const frozen = manifest.replace('2030-12-20', day(-2)).replace('2031-01-02', day(2));
  const story = await startStory({
    manifest,
    environment,
    replies: [{ calls: [deploy] }, { text: 'Not now.' }, { calls: [deploy] }, { text: 'Still not.' }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot();
  const thread = story.ask('deploy checkout 2.5.0 to production');
  await thread.shows(/Approve/);
  const parsed = parseManifest(frozen, { file: 'sre.yml', environment });
  if (!parsed.ok) throw new Error('the frozen manifest has mistakes');
  await bot.toolbox.replace(parsed.manifest);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(
    /No changes are allowed until \d{4}-\d\d-\d\d \d\d:\d\d UTC \(Year end\), so it did not run/,
  );
  await thread.shows(/Not now\./);
  const later = story.ask('deploy checkout 2.5.0 to production');
  await later.shows(/Still not\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/No changes are allowed until .* \(Year end\)/);
  expect(received.some(({ call }) => call === 'POST /v1/deployments')).toBe(false);
});

test('the helpdesk: an account is unlocked at once, and a group needs its owner and the helpdesk', async () => {
  const { manifest, received } = await startCompany('helpdesk', {
    'POST /v1/users/u7/lifecycle/unlock': () => [200, {}],
    'PUT /v1/groups/finance/users/u7': () => [200, {}],
  });
  const owner = 'ada@corner-shop.example';
  const add = { name: 'add_to_group', arguments: { user: 'u7', group: 'finance', owner } };
  const story = await startStory({
    manifest,
    environment,
    slack: { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } },
    replies: [
      { calls: [{ name: 'unlock_account', arguments: { user: 'u7' } }] },
      { text: 'Unlocked.' },
      { calls: [add] },
      { text: 'Added.' },
    ],
  });
  const unlock = story.ask('unlock u7');
  await unlock.shows(/Unlocked\./);
  const group = story.ask('add u7 to finance');
  await group.click(CAST.alice, /Add[\s\S]*to the group[\s\S]*Approve/, 'approve');
  await group.shows(/1 of 2|Approved by/);
  expect(received.map(({ call }) => call)).toEqual(['POST /v1/users/u7/lifecycle/unlock']);
  await group.click(CAST.admin, /Add[\s\S]*to the group/, 'approve');
  await group.shows(/Added\./);
  expect(received.at(-1)).toMatchObject({
    call: 'PUT /v1/groups/finance/users/u7',
    authorization: 'SSWS token-of-the-directory',
  });
});
