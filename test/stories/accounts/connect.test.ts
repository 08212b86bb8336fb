import { expect, test } from 'vitest';
import { CAST } from '../support.ts';
import { Browser, codeIn, startAccountStory } from './support.ts';

const { alice, requester: remi } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const write = { calls: [{ name: 'write', arguments: {} }] };

test('a call waits for the account of its requester, then for approval, and runs in their name', async () => {
  const story = await startAccountStory({ replies: [whoami, { text: 'Done.' }] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await thread.click(alice, /Connect your account/, 'connect');
  await story.noticeFor(alice, new RegExp(`Only <@${remi}> can connect`));
  expect(await story.connect(thread, 'remi-at-docs')).toMatchObject({ kind: 'cleared' });
  const card = await thread.shows(/Approval needed/);
  expect(JSON.stringify(card.blocks)).toContain('Runs with the docs account of ');
  expect(JSON.stringify(card.blocks)).toContain(remi);
  expect(story.mcp.calls).toEqual([]);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
});

test('a call that needs no approval waits for the account too, and one connection serves later calls', async () => {
  const replies = [whoami, { text: 'First.' }, whoami, { text: 'Second.' }];
  const story = await startAccountStory({ replies, approval: '{ require: never }' });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/Second\./);
  expect(story.mcp.calls).toHaveLength(2);
  expect(story.oauth.tokensBy('authorization_code')).toBe(1);
});

test("a call that two people asked for runs in nobody's account, and the thread is told", async () => {
  const replies = [whoami, { text: 'First.' }, { text: 'Which note?' }, write, { text: 'I cannot.' }];
  const story = await startAccountStory({ replies, approval: '{ require: never }' });
  await story.startBot();
  const first = story.ask('who am I there?');
  await story.connect(first, 'remi-at-docs');
  await first.shows(/First\./);
  const thread = story.ask('I want to change a note');
  await thread.shows(/Which note\?/);
  story.ask('replace all of them', { as: CAST.bruno, threadTs: thread.ts });
  await thread.shows(/several people have asked for it/);
  await thread.shows(/I cannot\./);
  expect(story.toldOfCalls().join()).toContain('Ask again in a thread of your own');
  expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
});

test('an approver who edits a call asks for it too, so it does not run in the account of the other', async () => {
  const story = await startAccountStory({
    replies: [{ calls: [{ name: 'write', arguments: { text: 'A' } }] }, { text: 'I cannot.' }],
  });
  await story.startBot();
  const thread = story.ask('write A');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'edit');
  await story.workspace.as(alice).submit((await story.modalFor(alice)).id, { 'field-0': 'B' });
  await thread.shows(/I cannot\./);
  await thread.shows(/several people have asked for it/);
  expect(story.mcp.calls).toEqual([]);
});

test('a stolen link connects nothing: who opens it has no modal, and who has the modal has no code', async () => {
  const story = await startAccountStory({ replies: [whoami, { text: 'Done.' }] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  const { modal, link } = await story.openModal(thread);
  const stolen = await new Browser('mallory-at-docs').visit(link);
  expect(stolen.status).toBe(200);

  // Mallory knows the code, and even the modal of Remi, but is not Remi.
  const { attempt } = JSON.parse(modal.private_metadata ?? '{}');
  const { flow } = (await story.startBot({ settings: { ...story.setup.settings, port: 0 } })).context
    .accounts;
  expect(await flow.confirm(attempt, CAST.bruno, codeIn(stolen.text))).toEqual({ outcome: 'over' });
  // Remi does not see the page of Mallory, and the link is used up.
  expect((await new Browser('remi-at-docs').visit(link)).status).toBe(410);
  expect(await story.workspace.as(remi).submit(modal.id, { code: 'AAAAAAAA' })).toMatchObject({
    kind: 'errors',
  });
  expect(await story.redis.keys(`{${story.prefix}}:connections:*`)).toEqual([]);

  await story.workspace.as(remi).close(modal.id);
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
});

test('an answer that comes back in another browser is refused', async () => {
  const story = await startAccountStory({ replies: [whoami] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  const { link } = await story.openModal(thread);
  const first = await fetch(link, { redirect: 'manual' });
  const returned = await new Browser('victim').visit(first.headers.get('location') ?? '');
  expect(returned.status).toBe(403);
  expect(returned.text).toContain('another browser');
});

test('a code is worth five tries', async () => {
  const story = await startAccountStory({ replies: [whoami] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  const { modal, link } = await story.openModal(thread);
  const { text } = await new Browser('remi-at-docs').visit(link);
  for (let tries = 1; tries <= 5; tries += 1)
    await story.workspace.as(remi).submit(modal.id, { code: 'AAAAAAAA' });
  expect(await story.workspace.as(remi).submit(modal.id, { code: codeIn(text) })).toMatchObject({
    errors: { code: expect.stringContaining('This attempt has ended') },
  });
  expect(await story.redis.keys(`{${story.prefix}}:connections:*`)).toEqual([]);
});

test('an answer of another issuer is refused before its code is used', async () => {
  const story = await startAccountStory({ replies: [whoami] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  const { link } = await story.openModal(thread);
  const opened = await fetch(link, { redirect: 'manual' });
  const cookie = (opened.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const state = new URL(opened.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const answer = new URLSearchParams({ state, code: 'a-code', iss: 'https://evil.example' });
  const returned = await fetch(`${story.publicUrl}/connect/return?${answer}`, { headers: { cookie } });
  expect(returned.status).toBe(400);
  expect(story.oauth.seen.filter(({ path }) => path === '/token')).toEqual([]);
});
