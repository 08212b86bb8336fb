import { expect, onTestFinished, test } from 'vitest';
import { applyDecision } from '../../../src/bot/inbox/decisions/decision.ts';
import { delegationsIn } from '../../../src/store/documents/delegations.ts';
import { ALL_TOOLS } from '../../../src/store/port/workspace.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { enrolAll, logProblems, signApproval } from '../../oracle/signers.ts';
import { serveProtected } from '../../tools/mcp/auth/fixtures/protected-server.ts';
import { startAccountStory } from '../accounts/support.ts';
import { CAST, SHIPPED_APP } from '../support.ts';

const { alice, bruno, requester: remi, admin } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const write = { calls: [{ name: 'write', arguments: { text: 'A' } }] };
const done = { text: 'Done.' };
const NEVER = '{ require: never }';
const asRemi = (tool: string) => ({ tool, as: 'remi-at-docs' });

test('a grant lets nobody use the account of another', async () => {
  const story = await startAccountStory({
    replies: [write, done, write],
    more: { policy: 'grants: { for: 2h, uses: 5 }' },
  });
  await story.startBot();
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  const card = await thread.shows(/Approval needed/);
  const person = story.workspace.as(alice);
  await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  await person.submit((await story.modalFor(alice, /without asking anyone/)).id, {});
  await thread.shows(/Done\./);
  story.ask('and again', { as: bruno, threadTs: thread.ts });
  await story.connect(thread, 'bruno-at-docs', bruno);
  await thread.shows(/Approval needed/);
  expect(story.mcp.calls).toEqual([asRemi('write')]);
});

test('a call that waited for an account counts once, for its requester', async () => {
  const story = await startAccountStory({
    replies: [write, done, write, { text: 'No more.' }],
    approval: NEVER,
    more: { manifest: 'limits: { write: { per: requester, window: 1d, max: 1 } }' },
  });
  await story.startBot();
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/Done\./);
  story.ask('and again', { threadTs: thread.ts });
  await thread.shows(/No more\./);
  expect(story.mcp.calls).toEqual([asRemi('write')]);
});

test('an account that is connected starts nothing that is frozen', async () => {
  const story = await startAccountStory({ replies: [whoami, { text: 'It is frozen.' }], approval: NEVER });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await thread.shows(/Needs an account/);
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  await store.freeze({ scope: ALL_TOOLS, id: 'f', who: admin, reason: 'Stop.', evidence: {} });
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/It is frozen\./);
  expect(story.mcp.calls).toEqual([]);
});

test("a preview reads in nobody's name", async () => {
  const preview = '{ tool: whoami, input: {}, before: "{{output}}", after: "-" }';
  const story = await startAccountStory({
    replies: [write],
    approval: `[{ match: write, policy: default }, { match: "*", require: never }]`,
    more: { entry: `    effect: none\n    cards: [{ match: write, preview: ${preview} }]` },
  });
  const { toolbox } = await story.startBot();
  expect(toolbox.problems().join()).toContain("a preview reads in nobody's name");
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/No preview: it couldn't be computed\./);
  expect(story.mcp.calls).toEqual([]);
});

test('a reverse call runs in the account of the person who clicked Undo', async () => {
  const story = await startAccountStory({
    replies: [write, done, { text: 'Undone.' }],
    more: { entry: '    cards: [{ match: write, undo: { tool: whoami, input: {} } }]' },
  });
  await story.startBot();
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Done\./);
  await thread.click(alice, /Undo until/, 'undo');
  await thread.click(remi, /Needs an account/, 'connect');
  await story.noticeFor(remi, new RegExp(`Only <@${alice}> can connect`));
  await story.connect(thread, 'alice-at-docs', alice);
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Undone\./);
  expect(story.mcp.calls).toEqual([asRemi('write'), { tool: 'whoami', as: 'alice-at-docs' }]);
});

test('another address of the server asks for the account again', async () => {
  const story = await startAccountStory({ replies: [whoami, done, whoami], approval: NEVER });
  const { toolbox } = await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/Done\./);
  const moved = await serveProtected({ issuer: story.oauth.issuer, isListOpen: true });
  onTestFinished(() => moved.stop());
  const parsed = parseManifest(story.manifest.replace(story.mcp.url, moved.url), {
    file: 'story.yml',
    environment: story.environment,
  });
  if (!parsed.ok) throw new Error('not parsed');
  await toolbox.replace(parsed.manifest);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/Needs an account/);
  expect(moved.calls).toEqual([]);
  expect(moved.tokens).toEqual([]);
});

const BOTH = `{ all: [{ any: [${alice}] }, { any: [${bruno}] }] }`;
test.each([
  { way: 'delegation', approvers: `[${alice}]`, policy: 'delegation: true', inVain: [remi], votes: [bruno] },
  { way: 'a quorum of groups', approvers: BOTH, inVain: [remi, alice], votes: [bruno] },
  { way: 'an approver from the input', approvers: '{ from: input.text }', inVain: [alice], votes: [bruno] },
])('with $way a call in the account of its requester waits for its approvers', async (case_) => {
  const { approvers, policy, inVain, votes } = case_;
  const text = 'bruno@corner-shop.example';
  const story = await startAccountStory({
    replies: [{ calls: [{ name: 'write', arguments: { text } }] }, done],
    slack: { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } },
    more: { approvers, ...(policy !== undefined && { policy }) },
  });
  await story.startBot();
  const given = { from: alice, to: bruno, until: Date.now() + 60_000, reason: '', evidence: {}, id: 'd' };
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  if (policy !== undefined) await delegationsIn(store).delegate(given);
  const thread = story.ask('write it');
  await story.connect(thread, 'remi-at-docs');
  for (const who of inVain) await thread.click(who, /Approval needed|1 approval|2 approvals/, 'approve');
  await thread.shows(/pproval/);
  expect(story.mcp.calls).toEqual([]);
  for (const who of votes) await thread.click(who, /Approval needed|1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([asRemi('write')]);
});

test('with a passkey a click approves nothing in the account of the requester, and the signature does', async () => {
  const page = `page: { client_id: one, client_secret: "\${CLIENT_SECRET}" }`;
  const story = await startAccountStory({
    replies: [write, done],
    more: { policy: 'confirm: passkey', manifest: page },
  });
  const { context } = await story.startBot();
  await enrolAll(context.store, [alice, bruno]);
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /passkey/);
  expect(story.mcp.calls).toEqual([]);
  const [requestId = ''] = await context.store.waitingIn(`${thread.channel}:${thread.ts}`);
  const assertion = await signApproval(context, requestId, alice, false);
  const click = { who: alice, id: 'signed', team: undefined, channel: undefined };
  await applyDecision(context, { requestId, click, decision: { type: 'approve', assertion } });
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([asRemi('write')]);
  expect(await logProblems(context.store)).toEqual({ problems: [], proven: 1 });
});
