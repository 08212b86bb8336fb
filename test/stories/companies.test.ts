import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isMap, parseDocument, visit } from 'yaml';
import { type JsonObject, toJson } from '../../src/agent/json.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run } from '../commands/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { CAST, SHIPPED_APP, startStory } from './support.ts';

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../examples/${name}/manifest.yml`, import.meta.url));
const environment = {
  PLATFORM_SECRET: 'secret-of-the-platform',
  DIRECTORY_TOKEN: 'token-of-the-directory',
  ACCOUNTING_TOKEN: 'token-of-the-accounting',
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

test.each(['shop', 'platform', 'finance', 'helpdesk'])(
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
    .replace('http_defaults:\n', 'http_defaults:\n  allow_private: [localhost]\n');
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
  'GET /v1/incidents': () => [200, { open: 0 }],
  'GET /v1/services/checkout': () => [200, { version: '2.4.1' }],
  'POST /v1/deployments': () => [202, { id: 'd-7' }],
  'GET /v1/deployments/d-7': (count: number) => [200, { status: count < 2 ? 'running' : 'live' }],
} satisfies Readonly<Record<string, (count: number) => [number, unknown]>>;

test('the platform team: an approved deployment runs with the token of the platform, and its end is the result', async () => {
  const { manifest, received } = await startCompany('platform', PLATFORM);
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

test('the platform team: while an incident is open, what is approved waits, and nothing else starts', async () => {
  let open = 1;
  const { manifest, received } = await startCompany('platform', {
    ...PLATFORM,
    'GET /v1/incidents': () => [200, { open }],
  });
  const staging = { ...deploy, arguments: { ...deploy.arguments, environment: 'staging' } };
  const story = await startStory({
    manifest: manifest.replace('agent:\n', `agent:\n  built_ins: []\n`),
    environment,
    slack: { app: { commands: ['/countersign'] } },
    replies: [{ calls: [deploy] }, { calls: [staging] }, { text: 'Not now.' }, { text: 'It is live.' }],
  });
  const thread = story.ask('deploy checkout 2.5.0 to production');
  await thread.click(CAST.alice, /Deploy[\s\S]*to production[\s\S]*Approve/, 'approve');
  await thread.shows(/On hold: An incident is open\. It starts after that\./);
  const other = story.ask('deploy it to staging');
  await other.shows(/Not now\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/Actions are frozen\. Reason: An incident is open\./);
  expect(received.some(({ call }) => call === 'POST /v1/deployments')).toBe(false);
  open = 0;
  // The end of any freeze has everything that waits looked at again.
  for (const word of ['freeze restart_service', 'unfreeze restart_service'])
    await story.workspace.as(CAST.admin).command('/countersign', word);
  await thread.shows(/It is live\./);
  expect(received.filter(({ call }) => call === 'POST /v1/deployments')).toHaveLength(1);
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

interface Case {
  readonly name: string;
  readonly given: {
    readonly tool: string;
    readonly input: Record<string, unknown>;
    readonly requester: string;
    readonly channel: string;
    readonly time?: string;
    readonly first?: readonly string[];
    readonly used?: Record<string, number>;
    readonly frozen?: readonly string[];
  };
  readonly expect: 'run' | 'deny' | { readonly approval?: { readonly policy?: string } };
}

/** Reads the cases of an example, each with what all of them share. */
function casesOf(name: string): readonly Case[] {
  const file = readFileSync(fileOf(name).replace('manifest.yml', 'manifest.test.yml'), 'utf8');
  const { given, cases } = parseDocument(file).toJS() as { given: object; cases: Case[] };
  return cases.map((each) => ({ ...each, given: { ...given, ...each.given } }));
}

const outcomeOf = ({ expect: expected }: Case) =>
  typeof expected === 'string'
    ? { outcome: expected }
    : expected.approval === undefined
      ? { outcome: 'deny' }
      : { outcome: 'ask', policy: expected.approval.policy };

describe.each(['shop', 'platform', 'finance'])('the cases of the %s', (name) => {
  const all = { ...environment, MANIFEST: fileOf(name) };

  test('are as expected for manifest test, and explain says the same', async () => {
    expect(await run(['manifest', 'test'], all)).toMatchObject({ code: 0, error: '' });
    for (const each of nonEmpty(casesOf(name).filter(({ given }) => given.frozen === undefined))) {
      const { tool, input, requester, channel, time, first, used } = each.given;
      const options = [
        ...['--as', requester, '--channel', channel, '--used', JSON.stringify(used ?? {})],
        ...(time === undefined ? [] : ['--at', time]),
        ...(first === undefined ? [] : ['--first', first.join(',') || 'none']),
      ];
      const explained = await run(['explain', tool, JSON.stringify(input), ...options, '--json'], all);
      const { outcome, policy } = JSON.parse(explained.out) as { outcome: string; policy?: string };
      expect({ name: each.name, outcome, policy }).toEqual({ name: each.name, ...outcomeOf(each) });
    }
  });

  test('end in the same way when the bot runs', async () => {
    // What is used, a time and other first times than now are not those of a bot that has just begun; a job asks through the door.
    const played = nonEmpty(
      casesOf(name).filter(
        ({ given: { requester, used, time, first, frozen } }) =>
          requester.startsWith('U') &&
          [used, frozen].every((part) => part === undefined) &&
          (first === undefined || first.length === 3) &&
          (time === undefined || name === 'platform') &&
          !time?.startsWith('2026-11-21'),
      ),
    );
    const { manifest } = await startCompany(name, {
      ...PLATFORM,
      'GET /invoices/I-7': () => [200, { amount: 40_000 }],
      'POST /v1/services/checkout/restarts': () => [201, {}],
    });
    const story = await startStory({
      // A bot must not depend on the day it is played.
      manifest: manifest.replace(/ {2}- \{ name: Weekend, [^\n]*\n/, ''),
      folder: fileOf(name).replace('/manifest.yml', ''),
      environment,
      replies: played.flatMap((each, index) => {
        const call = {
          calls: [{ name: each.given.tool, arguments: toJson(each.given.input) as JsonObject }],
        };
        return outcomeOf(each).outcome === 'ask' ? [call] : [call, { text: `End of ${index}.` }];
      }),
    });
    const store = openRedisStore({ client: story.redis, prefix: story.prefix });
    for (const [index, each] of played.entries()) {
      const expected = outcomeOf(each);
      const thread = story.ask(each.name);
      await thread.shows(expected.outcome === 'ask' ? /Approval needed/ : new RegExp(`End of ${index}\\.`));
      if (expected.outcome === 'run') expect(story.toldOfCalls().at(-1), each.name).not.toMatch(/denied/);
      if (expected.outcome === 'deny') expect(story.toldOfCalls().at(-1), each.name).toMatch(/denied/);
      if (expected.outcome !== 'ask') continue;
      const asked: string[] = [];
      for await (const row of store.exportAudit()) if (row.event === 'asked') asked.push(row.body);
      const last = JSON.parse(asked.at(-1) ?? '{}') as { policy_name?: string };
      expect({ name: each.name, policy: last.policy_name }).toEqual({
        name: each.name,
        policy: expected.policy,
      });
    }
  });
});
