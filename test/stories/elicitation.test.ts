import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { textIn } from '../bot/views/cards/payloads.ts';
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
  startChanged,
} from './asking-servers.ts';
import { CAST, startStory } from './support.ts';

const { requester: remi, alice } = CAST;

const booked = (notes: readonly string[]) => notes.filter((line) => line.startsWith('booked'));

describe.each<Protocol>(['current', 'older'])('a server of the %s protocol that asks', (protocol) => {
  test('gets the form of the requester, whose card says which server asks', async () => {
    const { story, notes, thread } = await startAsking(protocol, 'book_table', 'Booked.');
    const card = await thread.shows(/Input needed: Who is coming\?/);
    expect(JSON.stringify(card.blocks)).toContain('The MCP server bookings asks');
    expect(booked(notes())).toEqual([]);
    expect(await fillIn(story, thread, /Input needed/, { ...FILLED, 'field-0': 'R' })).toMatchObject({
      errors: { 'field-0': expect.any(String) },
    });
    expect(await fillIn(story, thread, /Input needed/)).toEqual({ kind: 'cleared' });
    await thread.shows(/Booked\./);
    await thread.shows(/Answered: Who is coming[\s\S]*Remi/);
    expect(story.toldOfCalls().join()).toContain('booked: accept Remi 3');
    expect(booked(notes())).toEqual(['booked Monday accept Remi 3']);
  });

  test('is declined: the server hears it, and the card says who declined', async () => {
    const { story, notes, thread } = await startAsking(protocol, 'book_table', 'Not then.');
    await thread.click(remi, /Input needed/, 'decline');
    await thread.shows(/Not then\./);
    await thread.shows(/Declined: Who is coming[\s\S]*Declined by/);
    expect(booked(notes())).toEqual(['booked Monday decline']);
    expect(story.toldOfCalls().join()).toMatch(/declined to answer/);
  });

  test('is withdrawn by the requester: the server hears cancel, and nothing is booked by an answer', async () => {
    const { story, notes, thread } = await startAsking(protocol, 'book_table', 'Left it.');
    await thread.click(remi, /Input needed/, 'withdraw');
    await thread.shows(/Left it\./);
    await thread.shows(/Withdrawn: Who is coming/);
    expect(story.toldOfCalls().join()).toMatch(/withdrawn/);
    expect(booked(notes())).toEqual(protocol === 'current' ? ['booked Monday cancel withdrawn'] : []);
    expect(notes().join()).toContain('cancel');
  });

  test('expires: the server hears cancel, and the model is told that nobody answered', async () => {
    const { story, notes, thread } = await startAsking(protocol, 'book_table', 'Too late.', {
      elicitation: '{ expires: 2s }',
    });
    await thread.shows(/Input needed|Expired/);
    await thread.shows(/Too late\./);
    await thread.shows(/Expired: Who is coming/);
    expect(story.toldOfCalls().join()).toMatch(/Nobody answered/);
    expect(booked(notes())).toEqual(protocol === 'current' ? ['booked Monday cancel expired'] : []);
  });

  test('asks twice in an approved call: two forms, one effect, and the approvers see what is sent', async () => {
    const { story, notes, thread } = await startApproved(protocol, 'plan_trip', 'Planned.');
    await thread.shows(/Waiting for .* to answer bookings/);
    await fillIn(story, thread, /Input needed: Who travels/);
    // An older server gets each answer by itself.
    if (protocol === 'older') await approveAnswer(thread);
    await fillIn(story, thread, /Input needed: Which seat/, { 'field-0': '1' });
    const card = await thread.shows(ANSWER_CARD);
    expect(textIn(card.blocks)).toMatch(/Who travels\?[\s\S]*Remi[\s\S]*Which seat\?[\s\S]*window/);
    await approveAnswer(thread);
    await thread.shows(/Planned\./);
    expect(notes().filter((line) => line.startsWith('planned'))).toEqual([
      'planned accept Remi 3 accept window',
    ]);
    expect(story.toldOfCalls().join()).toContain('planned: accept Remi 3, accept window');
    expect(story.repliesIn(thread).filter(({ text }) => /Done: Plan trip/.test(text))).toHaveLength(1);
  });
});

test.each([
  ['one', '{ per: requester, window: 1d, max: 1 }'],
  ['none without approval', '{ per: requester, window: 1d, max: 0, policy: default }'],
])('an approved call that waits for its server counts once against a limit of %s', async (_, limit) => {
  const { manifest, notes } = askingManifest('current', APPROVED);
  const story = await startStory({
    manifest: `${manifest}limits: { plan_trip: ${limit} }\n`,
    replies: [ask('plan_trip'), { text: 'Planned.' }],
  });
  const thread = story.ask('plan a trip');
  await thread.click(alice, /Approval needed/, 'approve');
  await fillIn(story, thread, /Input needed: Who travels/);
  await fillIn(story, thread, /Input needed: Which seat/, { 'field-0': '1' });
  await approveAnswer(thread);
  await thread.shows(/Planned\./);
  expect(notes().filter((line) => line.startsWith('planned'))).toHaveLength(1);
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const key = `plan_trip|requester|${remi}`;
  expect(await store.readTotals([{ key, windowMs: 86_400_000 }])).toEqual([{ count: 1, sum: 1 }]);
});

test('nobody else can answer, see the form, or decline', async () => {
  const { manifest, notes } = askingManifest('current');
  const story = await startStory({ manifest, replies: [ask('book_table')] });
  const thread = story.ask('book a table');
  await thread.click(alice, /Input needed/, 'fill-in');
  await story.noticeFor(alice, /Only the people this was sent to can answer/);
  expect(story.workspace.modalOf(alice)).toBeUndefined();
  await thread.click(alice, /Input needed/, 'decline');
  await thread.shows(/Input needed/);
  expect(booked(notes())).toEqual([]);
});

test('the manifest names who is asked: the approvers get the card as well', async () => {
  const { story, notes, thread } = await startAsking('current', 'book_table', 'Booked.', {
    elicitation: '{ ask: approvers }',
  });
  await thread.click(remi, /Input needed/, 'fill-in');
  await story.noticeFor(remi, /Only the people this was sent to can answer/);
  await story.directly(alice).click(alice, /Input needed/, 'fill-in');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, FILLED);
  await thread.shows(/Booked\./);
  expect(booked(notes())).toEqual(['booked Monday accept Remi 3']);
});

test('an address is opened from a modal that names its host, by the person who is asked alone', async () => {
  const { story, thread } = await startAsking('current', 'sign_in', 'Signed in.');
  const card = await thread.shows(/Input needed: Please sign in/);
  expect(JSON.stringify(card.blocks)).toContain('bank.example');
  expect(JSON.stringify(card.blocks)).not.toContain('for=remi');
  await thread.click(remi, /Input needed/, 'fill-in');
  const modal = await story.modalFor(remi, /bank\.example/);
  expect(JSON.stringify(modal.blocks)).toContain('https://bank.example/sign-in?for=remi');
  await story.workspace.as(remi).submit(modal.id, {});
  await thread.shows(/Signed in\./);
  expect(story.toldOfCalls().join()).toContain('page: accept');
});

test('a form for a secret is shown to nobody, and the model is told why', async () => {
  const { story, thread } = await startAsking('current', 'steal', 'I cannot.');
  await thread.shows(/I cannot\./);
  expect(story.toldOfCalls().join()).toMatch(/secrets are never asked for in forms/);
  expect(JSON.stringify(story.repliesIn(thread))).not.toMatch(/Input needed/);
});

test('an answer does not continue a call whose policy has changed since it was approved: it is asked anew', async () => {
  const { story, notes, thread } = await startChanged();
  await fillIn(story, thread, /Input needed/);
  await thread.shows(/Needs 1 approval/);
  expect(booked(notes())).toEqual([]);
});
