import { expect, test } from 'vitest';
import { Keys } from '../../../src/store/port/keys.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { MORTAL, startDoomedBot } from '../doomed-bot.ts';
import { CAST } from '../support.ts';
import { startAccountStory } from './support.ts';

const { alice, requester: remi, bruno } = CAST;
const callOf = (name: string) => ({ calls: [{ name, arguments: {} }] });
const server = { isTalkative: true };
const FILLED = { 'field-0': 'Remi', 'field-1': '3' };

type Story = Awaited<ReturnType<typeof startAccountStory>>;

const isFollowed = ({ mcp }: Story, seen = 0) =>
  expect.poll(() => mcp.followed.slice(seen), { timeout: PATIENCE_MS }).toContain('get remi-at-docs');

test('a server asks in a call that runs in the name of its requester, and gets the answer in their name', async () => {
  const story = await startAccountStory({ replies: [callOf('ask_me'), { text: 'Done.' }], server });
  await story.startBot();
  const thread = story.ask('ask me');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Waiting for .* to answer docs/);
  await thread.click(remi, /Input needed: Who is remi-at-docs/, 'fill-in');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, FILLED);
  await thread.click(alice, /Approval needed: Answer to docs/, 'approve');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([{ tool: 'ask_me', as: 'remi-at-docs' }]);
  await thread.shows(/Done: /);
});

test('a task of a person is followed in their name, and by the next process after a kill', async () => {
  const story = await startAccountStory({
    replies: [callOf('research'), { text: 'Reported.' }],
    server,
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const doomed = await startDoomedBot(story, story.manifest, story.environment);
  const thread = story.ask('research');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await isFollowed(story);
  await doomed.kill();
  const seen = story.mcp.followed.length;
  await story.startBot();
  await isFollowed(story, seen);
  story.mcp.complete('remi-at-docs');
  await thread.shows(/Reported\./);
  expect(story.toldOfCalls().join()).toContain('report for remi-at-docs');
  expect(story.mcp.calls).toEqual([{ tool: 'research', as: 'remi-at-docs' }]);
  expect(new Set(story.mcp.followed)).toEqual(new Set(['get remi-at-docs']));
});

test('each of several requesters in a thread uses their own account, and nobody uses that of another', async () => {
  const whoami = callOf('whoami');
  const story = await startAccountStory({
    replies: [whoami, { text: 'First.' }, whoami, { text: 'Second.' }],
    approval: '{ require: never }',
  });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  story.ask('and I?', { as: bruno, threadTs: thread.ts });
  await thread.click(remi, /Needs an account/, 'connect');
  await story.noticeFor(remi, new RegExp(`Only <@${bruno}> can connect`));
  await story.connect(thread, 'bruno-at-docs', bruno);
  await thread.shows(/Second\./);
  expect(story.mcp.calls.map(({ as }) => as)).toEqual(['remi-at-docs', 'bruno-at-docs']);
});

test('a call that lacks a scope did not run; the requester is asked for it, and the next one runs', async () => {
  const write = callOf('write');
  const story = await startAccountStory({
    replies: [write, { text: 'It needs more access.' }, write, { text: 'Written.' }],
    approval: '{ require: never }',
    server: { writeScope: 'mcp:write' },
  });
  await story.startBot();
  const thread = story.ask('write it');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/It needs more access\./);
  expect(story.toldOfCalls().join()).toContain('mcp:write');
  expect(story.mcp.calls).toEqual([]);
  const again = story.ask('write it then');
  const { link } = await story.openModal(again);
  const asked = await fetch(link, { redirect: 'manual' });
  const scope = new URL(asked.headers.get('location') ?? '').searchParams.get('scope') ?? '';
  expect(scope.split(' ')).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
  await story.workspace.as(remi).close((await story.modalFor(remi)).id);
  await story.connect(again, 'remi-at-docs');
  await again.shows(/Written\./);
  expect(story.mcp.calls).toEqual([{ tool: 'write', as: 'remi-at-docs' }]);
});

test('a request for an account expires: the call did not run, and the model is told', async () => {
  const story = await startAccountStory({
    replies: [callOf('whoami'), { text: 'Nobody connected.' }],
    approval: '{ require: never }',
  });
  const bot = await story.startBot();
  const thread = story.ask('who am I there?');
  await thread.shows(/Connect your account/);
  await story.deliveredAll();
  const [pending] = await bot.context.store.waitingIn(`${thread.channel}:${thread.ts}`);
  const loaded = await bot.context.store.load(pending ?? '');
  if (loaded.outcome !== 'found') throw new Error(loaded.outcome);
  const { expiresAt, createdAt } = loaded.request;
  expect(expiresAt - createdAt).toBe(86_400_000);
  // A day passes.
  await story.redis.hset(new Keys(story.prefix).ask(pending ?? ''), 'expires', String(Date.now()));
  expect(await bot.context.store.end(pending ?? '', { state: 'expired' })).toEqual({ outcome: 'ended' });
  await thread.shows(/Nobody connected\./);
  await thread.shows(/Expired/);
  expect(story.toldOfCalls().join()).toContain('expired');
  expect(story.mcp.calls).toEqual([]);
});
