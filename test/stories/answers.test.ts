import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { actionsIn, textIn } from '../bot/views/cards/payloads.ts';
import { clickCard } from '../support/click-card.ts';
import {
  ANSWER_CARD,
  APPROVED,
  approveAnswer,
  ask,
  askingManifest,
  FILLED,
  fillIn,
  type Protocol,
  startApproved,
  startAsking,
} from './asking-servers.ts';
import { CAST, startStory } from './support.ts';

const { requester: remi, alice, bruno } = CAST;
const BOTH = { approvers: [alice, bruno] };
const booked = (notes: readonly string[]) => notes.filter((line) => line.startsWith('booked'));

describe.each<Protocol>(['current', 'older'])('an answer to a server of the %s protocol', (protocol) => {
  test('in an approved call is shown to the approvers, who decide what is booked', async () => {
    const { story, notes, thread } = await startApproved(protocol, 'book_table', 'Booked.');
    const form = await thread.shows(/Input needed/);
    expect(textIn(form.blocks)).toContain('The approvers see your answer and approve it before it is sent');
    await fillIn(story, thread, /Input needed/, { ...FILLED, 'field-1': '300' });
    const card = await thread.shows(ANSWER_CARD);
    await thread.shows(/Started, continues with the answer to bookings in this thread/);
    expect(textIn(card.blocks)).toMatch(/Who is coming\?[\s\S]*300[\s\S]*Monday/);
    expect(actionsIn(card.blocks)).not.toContain('edit');
    expect(booked(notes())).toEqual([]);
    await thread.click(remi, ANSWER_CARD, 'approve');
    await story.noticeFor(remi, /approve/);
    expect(booked(notes())).toEqual([]);
    await approveAnswer(thread);
    await thread.shows(/Booked\./);
    expect(booked(notes())).toEqual(['booked Monday accept Remi 300']);
    const rows: string[] = [];
    const store = openRedisStore({ client: story.redis, prefix: story.prefix });
    for await (const { event, body } of store.exportAudit()) if (event === 'asked') rows.push(body);
    expect(rows.at(-1)).toContain('"answers":[{"answer":{"guests":300,"name":"Remi"}');
    expect(rows.at(-1)).toContain(`"answered_by":["${remi}"]`);
  });

  test('is rejected: nothing is booked, and the model is told', async () => {
    const { story, notes, thread } = await startApproved(protocol, 'book_table', 'Not then.');
    await fillIn(story, thread, /Input needed/);
    await thread.shows(ANSWER_CARD);
    await thread.click(alice, ANSWER_CARD, 'reject');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, { reason: 'too many' });
    await thread.shows(/Not then\./);
    expect(booked(notes())).toEqual([]);
    expect(story.toldOfCalls().join()).toMatch(/Rejected by .*too many/);
  });
});

test.each(['free', '{ free: ["book_*"] }'])(
  '`answers: %s` sends them at once, and the card says so',
  async (answers) => {
    const { story, notes, thread } = await startAsking('current', 'book_table', 'Booked.', {
      ...APPROVED,
      answers,
    });
    const card = await thread.shows(/Approval needed/);
    expect(textIn(card.blocks)).toContain('the answers are sent without approval');
    await thread.click(alice, /Approval needed/, 'approve');
    await fillIn(story, thread, /Input needed/);
    await thread.shows(/Booked\./);
    expect(booked(notes())).toEqual(['booked Monday accept Remi 3']);
  },
);

test('`answers: free` for another tool frees nothing, and the card of the call does not say that answers are free', async () => {
  const answers = '{ free: ["plan_*"] }';
  const { manifest, notes } = askingManifest('current', { ...APPROVED, answers });
  const story = await startStory({ manifest, replies: [ask('book_table')] });
  const thread = story.ask('begin');
  const card = await thread.shows(/Approval needed/);
  expect(textIn(card.blocks)).not.toContain('the answers are sent without approval');
  await thread.click(alice, /Approval needed/, 'approve');
  await fillIn(story, thread, /Input needed/);
  await thread.shows(ANSWER_CARD);
  expect(booked(notes())).toEqual([]);
});

test('an approver who answers cannot approve the answer', async () => {
  const { story, notes, thread } = await startApproved('current', 'book_table', 'Booked.', {
    ...BOTH,
    elicitation: '{ ask: approvers }',
  });
  await thread.click(alice, /Input needed/, 'fill-in');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, FILLED);
  await thread.shows(ANSWER_CARD);
  await thread.click(alice, ANSWER_CARD, 'approve');
  await story.noticeFor(alice, /approve/);
  expect(booked(notes())).toEqual([]);
  await approveAnswer(thread, bruno);
  await thread.shows(/Booked\./);
});

test('the answer to an edited call is approved with the edited arguments, not by who edited them', async () => {
  const { story, notes, thread } = await startAsking('current', 'book_table', 'Booked.', {
    ...APPROVED,
    ...BOTH,
  });
  await thread.click(alice, /Approval needed/, 'edit');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { 'field-0': 'Friday' });
  await thread.shows(/Approval needed[\s\S]*Friday/);
  await thread.click(bruno, /Approval needed[\s\S]*Friday/, 'approve');
  await fillIn(story, thread, /Input needed/);
  const card = await thread.shows(ANSWER_CARD);
  expect(textIn(card.blocks)).toContain('Friday');
  await thread.click(alice, ANSWER_CARD, 'approve');
  await story.noticeFor(alice, /approve/);
  expect(booked(notes())).toEqual([]);
  await approveAnswer(thread, bruno);
  await thread.shows(/Booked\./);
  expect(booked(notes())).toEqual(['booked Friday accept Remi 3']);
});

test('an answer does not run on its approval if the policy has changed meanwhile: the call is asked anew', async () => {
  const { manifest, notes } = askingManifest('current', APPROVED);
  const story = await startStory({ manifest, withoutBot: true, replies: [ask('book_table')] });
  const { toolbox } = await story.startOwnBot();
  const thread = story.ask('begin');
  await thread.click(alice, /Approval needed/, 'approve');
  await fillIn(story, thread, /Input needed/);
  await thread.shows(ANSWER_CARD);
  const { policies, ...rest } = toolbox.manifest;
  const policy = policies.get('default');
  if (policy === undefined) throw new Error('no policy');
  await toolbox.replace({ ...rest, policies: new Map([['default', { ...policy, expiresMs: 7_000_000 }]]) });
  await approveAnswer(thread);
  await thread.shows(/Approval needed: (?!Answer)/);
  expect(booked(notes())).toEqual([]);
});

test('an answer that nobody approves in time expires: nothing is booked, no later click counts, and the model is told', async () => {
  const { manifest, notes } = askingManifest('current', APPROVED);
  const story = await startStory({
    ...{ manifest, replies: [ask('book_table'), { text: 'Too late.' }] },
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const thread = story.ask('begin');
  await thread.click(alice, /Approval needed/, 'approve');
  await fillIn(story, thread, /Input needed/);
  const card = await thread.shows(ANSWER_CARD);
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const [id = ''] = await store.waitingIn(`${thread.channel}:${thread.ts}`);
  await story.redis.hset(`{${story.prefix}}:ask:${id}`, 'expires', 1);
  await story.redis.zadd(`{${story.prefix}}:timers`, 'XX', 0, `expire|${id}`);
  await thread.shows(/Too late\./);
  await thread.shows(/Expired: Answer to/);
  await thread.shows(/Failed: Book table[\s\S]*xpired/);
  await clickCard(story.workspace, alice, { channel: thread.channel, ts: card.ts }, 'approve').catch(
    () => {},
  );
  await story.deliveredAll();
  expect(booked(notes())).toEqual([]);
  expect(story.toldOfCalls().join()).toMatch(/expired|Nobody/i);
  expect(await store.waitingIn(`${thread.channel}:${thread.ts}`)).toEqual([]);
});
