import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { APPROVERS_GROUP } from '../../playground/slack/default-cast.ts';
import { namedParts } from '../../src/page/names.ts';
import type {
  Fact,
  Figures,
  History,
  LogPart,
  ManifestView,
  RequestView,
  Waiting,
} from '../../src/page/protocol.ts';
import { RequestIndex, searchRequests } from '../../src/page/request-index.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run } from '../commands/support.ts';
import { CAST, MANIFEST, PLACES } from '../stories/support.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { type Browser, type PageStory, startPageStory } from './support.ts';

const { alice, bruno, requester, admin } = CAST;
const EXACT = {
  orderId: 'A-1001',
  amount: 12_000,
  reason: 'two  spaces, "quotes", a tab \t and \u202Eturned',
};
const REFUND = { calls: [{ name: 'refund_order', arguments: EXACT }] };

async function read<Value>(browser: Browser, story: PageStory, path: string): Promise<Value> {
  const answer = await browser.get(`${story.url}/page/api/${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Value;
}

test('a request is shown whole to who asked, who may decide and who sees all, and to nobody else', async () => {
  const story = await startPageStory({
    auditors: [admin],
    manifest: MANIFEST.replace(
      'approvers: [U0ALICE002, U0BRUNO003], notify',
      `approvers: [${alice}], notify`,
    ),
    replies: [REFUND, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  const remi = await story.browserOf(requester);
  const { items } = await read<History>(remi, story, 'history');
  const [{ id = '' } = {}] = items;
  const path = `requests/${encodeURIComponent(id)}`;

  const approver = await story.browserOf(alice);
  const waiting = await read<Waiting>(approver, story, 'waiting');
  expect(waiting.items.map((item) => item.id)).toEqual([id]);
  const before = await read<RequestView>(approver, story, path);
  const exact = before.raw.find(({ label }) => label === 'Arguments, exactly as they will run')?.text ?? '';
  expect(exact).toContain('reason: "two  spaces, \\"quotes\\", a tab \\t and \\u{202e}turned"');
  expect(before.rules.join('\n')).toContain('Rule 1 of 2 decides');

  const stranger = await story.browserOf(bruno);
  expect((await stranger.get(`${story.url}/page/api/${path}`)).status).toBe(404);
  expect((await read<History>(stranger, story, 'history')).items).toEqual([]);
  for (const part of ['log', 'figures', 'manifest'])
    expect((await stranger.get(`${story.url}/page/api/${part}`)).status).toBe(403);

  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  const auditor = await story.browserOf(admin);
  for (const browser of [remi, approver, auditor]) {
    const view = await read<RequestView>(browser, story, path);
    expect(view).toMatchObject({
      state: 'succeeded',
      word: 'Done',
      votes: [{ who: alice, decision: 'approve' }],
    });
    expect(view.rows.map(({ event }) => event)).toEqual([
      'asked',
      'voted',
      'approved',
      'started',
      'succeeded',
    ]);
    expect(view.rows.every(({ hash }) => /^[0-9a-f]{40}$/.test(hash))).toBe(true);
  }
  expect((await read<Waiting>(approver, story, 'waiting')).items).toEqual([]);

  const figures = await read<Figures>(auditor, story, 'figures');
  expect(figures.rules).toMatchObject([
    { policy: 'default', because: '"amount" is more than 10000', requests: 1, decided: 1, approvalRate: 1 },
  ]);
  expect(figures.approvers).toMatchObject([{ who: alice, approved: 1, rejected: 0 }]);
  const log = await read<LogPart>(auditor, story, 'log');
  expect(log.rows.map(({ seq }) => seq)).toEqual(
    Array.from({ length: log.head.seq }, (_, index) => index + 1),
  );
  const manifest = await read<ManifestView>(auditor, story, 'manifest');
  expect(manifest.tools).toContain('refund_order');
  // As an admin wrote it, with the name of a secret in its place.
  expect(manifest.text).toContain('agent: { instructions: Help. }');
  expect(manifest.text).toMatch(/client_secret: "\$\{PAGE_SECRET\}"/);

  const explained = await auditor.send(`${story.url}/page/api/explain`, {
    method: 'POST',
    headers: { origin: story.url },
    body: JSON.stringify({
      as: requester,
      tool: 'refund_order',
      arguments: '{"orderId":"A-1001","amount":500}',
    }),
  });
  expect(await explained.json()).toMatchObject({
    lines: ['Runs without approval.', expect.stringContaining('Rule 2'), expect.anything()],
  });
  const foreign = { method: 'POST', headers: { origin: 'https://evil.example' }, body: '{}' };
  expect((await auditor.send(`${story.url}/page/api/explain`, foreign)).status).toBe(403);
});

test('while a request waits its votes are votes and no decision, and a what-if is about somebody who exists', async () => {
  const story = await startPageStory({
    auditors: [admin],
    replies: [{ calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo Arai' } }] }],
  });
  const thread = story.ask('delete it');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/1 of 2/);
  const half = {
    state: 'pending',
    votes: [{ who: alice, decision: 'approve' }],
    approvals: { given: 1, needed: 2 },
  };
  const auditor = await story.browserOf(admin);
  expect((await read<History>(auditor, story, 'history')).items).toMatchObject([half]);
  const waiting = await read<Waiting>(await story.browserOf(bruno), story, 'waiting');
  expect(waiting.items).toMatchObject([half]);

  const ask = async (as: string) => {
    const answer = await auditor.send(`${story.url}/page/api/explain`, {
      method: 'POST',
      headers: { origin: story.url },
      body: JSON.stringify({ as, tool: 'delete_customer', arguments: '{"customer":"Tomo Arai"}' }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const unknown = (given: string) => ({
    status: 400,
    body: { error: `Nobody here is called “${given}”. Choose a person from the list.` },
  });
  for (const nobody of ['Romi', 'U0NOBODY99', 'caller:nobody'])
    expect(await ask(nobody)).toMatchObject(unknown(nobody));
  for (const known of [requester, 'Remi'])
    expect(await ask(known)).toMatchObject({ status: 200, body: { as: requester } });
  const own = await read<Record<string, string>>(await story.browserOf(bruno), story, 'people');
  expect(own).toEqual({ [bruno]: 'bruno' });
  const all = await read<Record<string, string>>(auditor, story, 'people');
  expect(Object.keys(all).sort()).toEqual([admin, alice, bruno, requester].sort());
});

test('a question that anyone of a channel may answer is shown to who asked and who answered, and to no other member by its id', async () => {
  const question = { question: 'Which bicycle?', choices: ['Red', 'Blue'] };
  const story = await startPageStory({
    auditors: [admin],
    replies: [{ calls: [{ name: 'ask_question', arguments: question }] }, { text: 'Blue it is.' }],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.shows(/Which bicycle\?/);
  const remi = await story.browserOf(requester);
  const { requestIds } = await story.bot.context.store.list('asked', [requester], { limit: 1 });
  const path = `${story.url}/page/api/requests/${encodeURIComponent(requestIds[0] ?? '')}`;
  const statusFor = async (who: string) => (await (await story.browserOf(who)).get(path)).status;
  expect((await remi.get(path)).status).toBe(200);
  expect(await statusFor(alice)).toBe(404);
  await thread.click(alice, /Which bicycle\?/, 'choose:1');
  await thread.shows(/Blue it is\./);
  expect(await statusFor(alice)).toBe(200);
  expect(await statusFor(bruno)).toBe(404);
});

test('who may decide for an approver sees what waits for them, and the log tells of a request that was removed', async () => {
  const story = await startPageStory({
    auditors: [admin],
    manifest: MANIFEST.replace(
      'approvers: [U0ALICE002, U0BRUNO003], notify',
      `approvers: [${alice}], delegation: true, notify`,
    ),
    replies: [REFUND, { text: 'I did not.' }],
  });
  const { store } = story.bot.context;
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  const delegate = await story.browserOf(bruno);
  expect((await read<Waiting>(delegate, story, 'waiting')).items).toEqual([]);
  await delegationsIn(store).delegate({
    ...{
      id: randomUUID(),
      from: alice,
      to: bruno,
      until: Date.now() + 3_600_000,
      reason: 'away',
      evidence: {},
    },
  });
  const { items } = await read<Waiting>(delegate, story, 'waiting');
  const [{ id = '' } = {}] = items;
  const path = `requests/${encodeURIComponent(id)}`;
  expect(await read<RequestView>(delegate, story, path)).toMatchObject({ state: 'pending', isKept: true });

  await thread.click(requester, /Approval needed/, 'withdraw');
  await thread.shows(/I did not\./);
  await expect.poll(() => store.purge(id, { early: true })).toMatchObject({ outcome: 'purged' });
  const removed = await read<RequestView>(await story.browserOf(requester), story, path);
  expect(removed).toMatchObject({ isKept: false, state: 'withdrawn', word: 'Withdrawn' });
  expect(removed.rows.map(({ event }) => event)).toEqual(['asked', 'withdrawn']);
  // Who only might have decided took no part.
  expect((await delegate.get(`${story.url}/page/api/${path}`)).status).toBe(404);
});

test('people, groups and channels appear by name, each by their own, and nobody waits for Slack', async () => {
  const story = await startPageStory({
    auditors: [admin],
    manifest: MANIFEST.replace(
      'approvers: [U0ALICE002, U0BRUNO003], notify',
      `approvers: [${alice}, ${bruno}, ${APPROVERS_GROUP}], notify`,
    ),
    replies: [REFUND],
  });
  await story.ask('refund it').shows(/Approval needed/);
  const auditor = await story.browserOf(admin);
  const [{ id = '' } = {}] = (await read<History>(auditor, story, 'history')).items;
  const path = `requests/${encodeURIComponent(id)}`;
  const { names, terms, channel, rules, texts, rows } = await read<RequestView>(auditor, story, path);
  expect(terms.find(({ label }) => label === 'Approvers')).toEqual({
    ...{ label: 'Approvers', text: `any of ${alice}, ${bruno}, ${APPROVERS_GROUP}`, hasIds: true },
  });
  expect(channel).toBe(PLACES.general);
  expect(names).toMatchObject({
    [alice]: 'alice',
    [APPROVERS_GROUP]: '@approvers',
    [PLACES.general]: '#general',
  });
  expect(rules.flatMap((line) => namedParts(line, names))).toContainEqual({
    id: alice,
    name: 'alice',
  });
  expect(rows.length).toBeGreaterThan(0);
  // An id in somebody else's words is just a word.
  expect(texts.every(({ hasIds }: Fact) => hasIds === undefined)).toBe(true);

  // Two people of one name, and one whose name is the id of another.
  const { users } = story.workspace.state;
  for (const [who, name] of [
    [requester, 'ＡLICE'],
    [bruno, alice],
  ] as const) {
    Object.assign(users.get(who) ?? {}, { name, real_name: name });
  }
  const second = await story.startOwnBot({
    ...story.setup,
    manifest: { ...story.setup.manifest, page: story.bot.toolbox.manifest.page },
  });
  const url = `http://127.0.0.1:${second.port}`;
  const alike = (await (await auditor.get(`${url}/page/api/${path}`)).json()) as RequestView;
  expect(alike.names[alice]).toBe(`alice (${alice})`);
  expect(alike.names[bruno]).toBe(`${alice} (${bruno})`);
});

test('a view comes with ids where Slack does not tell a name', async () => {
  const story = await startPageStory({ auditors: [admin], replies: [REFUND] });
  await story.ask('refund it').shows(/Approval needed/);
  const auditor = await story.browserOf(admin);
  const second = await story.startOwnBot({
    ...story.setup,
    manifest: { ...story.setup.manifest, page: story.bot.toolbox.manifest.page },
  });
  let release = (): void => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  onTestFinished(() => release());
  story.workspace.fail(
    'users.info',
    { kind: 'held', until },
    { calls: 100, when: ({ user }) => user !== admin },
  );
  const api = `http://127.0.0.1:${second.port}/page/api`;
  const found = (await (await auditor.get(`${api}/history?person=Laurent`)).json()) as History;
  expect(found).toMatchObject({ items: [], unnamed: 1 });
  const byId = (await (await auditor.get(`${api}/history?person=${requester}`)).json()) as History;
  expect(byId.items).toMatchObject([{ requesters: [requester] }]);
  expect(byId.names).toEqual({ [PLACES.general]: '#general' });
});

test('Details in Slack lead to the request on the page', async () => {
  const story = await startPageStory({ replies: [REFUND] });
  const thread = story.ask('refund it');
  await thread.click(alice, /Approval needed/, 'details');
  const modal = await story.modalFor(alice, /Open as a page/);
  const [, link = ''] = /"url":"([^"]+)"/.exec(JSON.stringify(modal.blocks)) ?? [];
  expect(link).toContain(`${story.url}/page/requests/`);
  const browser = await story.browserOf(alice);
  const view = await read<RequestView>(browser, story, link.slice(link.indexOf('requests/')));
  expect(view.state).toBe('pending');
});

test('direct messages, reminders and what they leave behind link to the request on the page', async () => {
  const story = await startPageStory({
    manifest: MANIFEST.replace(
      'notify: { direct_messages: false } }\n  two',
      'notify: { remind: 1s } }\n  two',
    ),
    replies: [REFUND, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  const linked = (what: RegExp) =>
    story.workspace.until(
      ({ state }) =>
        state.messages.find(
          ({ text, blocks }) =>
            what.test(text) && JSON.stringify(blocks).includes(`${story.url}/page/requests/`),
        ),
      { what: `a message like ${what} with a link` },
    );
  const direct = await linked(/^Approval needed/);
  expect(direct.channel).toMatch(/^D/);
  await linked(/^Reminder/);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect((await linked(/^Done/)).channel).toMatch(/^D/);
});

test('a request is found by its title, its tool, a person, a state and a time', async () => {
  const story = await startPageStory({
    auditors: [admin],
    replies: [
      REFUND,
      { text: 'Refunded.' },
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo Arai' } }] },
    ],
  });
  const first = story.ask('refund it');
  await first.click(alice, /Approval needed/, 'approve');
  await first.shows(/Refunded\./);
  const second = story.ask('delete Tomo');
  await second.shows(/Delete customer/);
  const browser = await story.browserOf(admin);
  const find = async (search: string) =>
    (await read<History>(browser, story, `history?${search}`)).items.map(({ tool }) => tool);
  expect(await find('')).toEqual(['delete_customer', 'refund_order']);
  expect(await find('text=REFUND')).toEqual(['refund_order']);
  expect(await find('tool=delete')).toEqual(['delete_customer']);
  expect(await find(`person=${alice}`)).toEqual(['refund_order']);
  expect(await find('person=alic')).toEqual(['refund_order']);
  expect(await find('state=pending')).toEqual(['delete_customer']);
  expect(await find('since=32472144000000')).toEqual([]);
  const hourAgo = Date.now() - 3_600_000;
  expect(await find(`since=${hourAgo}&until=${hourAgo + 7_200_000}`)).toHaveLength(2);
  expect(await find(`until=${hourAgo}`)).toEqual([]);
  expect(await find('text=nothing')).toEqual([]);
});

/** Writes requests to a log as the record does, and nothing else. */
async function fillLog(requests: number) {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  const ask = (index: number) =>
    store.note(randomUUID(), 'asked', `C1:${index}~a`, {
      ...{
        tool: 'refund_order',
        title: `Refund ${index}`,
        requester: 'U-req',
        policy_name: 'default',
        rule: 'always',
      },
    });
  for (let from = 0; from < requests; from += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, requests - from) }, (_, index) => ask(from + index)),
    );
  return { redis, store };
}

/** Counts the commands that a client sends while some work is done. */
async function commandsOf({ client }: TestRedis, work: () => Promise<void>): Promise<number> {
  const sent = vi.spyOn(client, 'sendCommand');
  try {
    await work();
    return sent.mock.calls.length;
  } finally {
    sent.mockRestore();
  }
}

test('a list and a search cost as many commands with 2,000 requests as with 100', async () => {
  const costs: number[] = [];
  for (const requests of [100, 2_000]) {
    const { redis, store } = await fillLog(requests);
    const index = new RequestIndex(store);
    expect(await index.all()).toHaveLength(requests);
    await store.note(randomUUID(), 'asked', 'C1:new~a', { tool: 'refund_order', title: 'New' });
    const commands = await commandsOf(redis, async () => {
      const all = await index.all();
      expect(all.at(-1)?.title).toBe('New');
      expect(searchRequests(all, { text: 'refund 7' }, (id) => id).length).toBeGreaterThan(0);
      await index.find('C1:1~a');
    });
    costs.push(commands);
  }
  expect(costs[0]).toBeGreaterThan(1);
  expect(costs[1]).toBe(costs[0]);
});

test('the index keeps the newest requests, and begins again when an older copy of the record came back', async () => {
  const { redis, store } = await fillLog(30);
  const index = new RequestIndex(store, 10);
  expect((await index.all()).map(({ title }) => title)).toEqual(
    Array.from({ length: 10 }, (_, at) => `Refund ${20 + at}`),
  );
  const [log = ''] = (await redis.client.keys(`*${redis.prefix}*audit`)).filter((key) =>
    key.endsWith('audit'),
  );
  await redis.client.xtrim(log, 'MAXLEN', 0);
  const [head = ''] = (await redis.client.keys(`*${redis.prefix}*head`)).filter((key) =>
    key.endsWith('head'),
  );
  await redis.client.hset(head, 'seq', 0, 'hash', '');
  expect(await index.all()).toEqual([]);
});

test('"countersign report" writes the figures as one file without a script, in which hostile names are text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { redis, store } = await fillLog(3);
  await store.note(randomUUID(), 'asked', 'C1:evil~a', {
    ...{ tool: 'x', title: 'x', requester: 'U-req' },
    policy_name: '<script>alert(1)</script>',
    rule: '"><img src=x onerror=alert(1)>',
  });
  const file = join(folder, 'report.html');
  const { code, out } = await run(
    ['report', '--html', file],
    { REDIS_URL: inject('redisUrl') },
    redis.prefix,
  );
  expect([code, out]).toEqual([0, `${file}: 4 requests\n`]);
  const html = readFileSync(file, 'utf8');
  expect(html).not.toMatch(/<(?:script|img|a|link|iframe|object)\b/);
  expect(html).toContain('&#60;script&#62;');
  expect(html.match(/<svg/g)?.length).toBe(html.match(/<table/g)?.length);
  expect((await run(['report'], { REDIS_URL: inject('redisUrl') }, redis.prefix)).code).toBe(2);
});
