import { describe, expect, test } from 'vitest';
import { ask, askingManifest, type Protocol } from './asking-servers.ts';
import { CAST, startStory } from './support.ts';

const { requester: remi, alice } = CAST;
const FILLED = { 'field-0': 'Remi', 'field-1': '3' };

type Story = Awaited<ReturnType<typeof startStory>>;
type Thread = ReturnType<Story['ask']>;

async function fillIn(
  story: Story,
  thread: Thread,
  question: RegExp,
  values = FILLED as Record<string, string>,
) {
  await thread.click(remi, question, 'fill-in');
  const modal = await story.modalFor(remi);
  return story.workspace.as(remi).submit(modal.id, values);
}

const booked = (notes: readonly string[]) => notes.filter((line) => line.startsWith('booked'));

describe.each<Protocol>(['current', 'older'])('a server of the %s protocol that asks', (protocol) => {
  test('gets the form of the requester, whose card says which server asks', async () => {
    const { manifest, notes } = askingManifest(protocol);
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Booked.' }] });
    const thread = story.ask('book a table');
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
    const { manifest, notes } = askingManifest(protocol);
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Not then.' }] });
    const thread = story.ask('book a table');
    await thread.click(remi, /Input needed/, 'decline');
    await thread.shows(/Not then\./);
    await thread.shows(/Declined: Who is coming[\s\S]*Declined by/);
    expect(booked(notes())).toEqual(['booked Monday decline']);
    expect(story.toldOfCalls().join()).toMatch(/declined to answer/);
  });

  test('is withdrawn by the requester: the server hears cancel, and nothing is booked by an answer', async () => {
    const { manifest, notes } = askingManifest(protocol);
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Left it.' }] });
    const thread = story.ask('book a table');
    await thread.click(remi, /Input needed/, 'withdraw');
    await thread.shows(/Left it\./);
    await thread.shows(/Withdrawn: Who is coming/);
    expect(story.toldOfCalls().join()).toMatch(/withdrawn/);
    expect(booked(notes())).toEqual(protocol === 'current' ? ['booked Monday cancel withdrawn'] : []);
    expect(notes().join()).toContain('cancel');
  });

  test('expires: the server hears cancel, and the model is told that nobody answered', async () => {
    const { manifest, notes } = askingManifest(protocol, { elicitation: '{ expires: 2s }' });
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Too late.' }] });
    const thread = story.ask('book a table');
    await thread.shows(/Input needed|Expired/);
    await thread.shows(/Too late\./);
    await thread.shows(/Expired: Who is coming/);
    expect(story.toldOfCalls().join()).toMatch(/Nobody answered/);
    expect(booked(notes())).toEqual(protocol === 'current' ? ['booked Monday cancel expired'] : []);
  });

  test('asks twice in an approved call: one approval, two forms, one effect', async () => {
    const { manifest, notes } = askingManifest(protocol, { rule: '{ policy: default }' });
    const story = await startStory({ manifest, replies: [ask('plan_trip'), { text: 'Planned.' }] });
    const thread = story.ask('plan a trip');
    await thread.click(alice, /Approval needed/, 'approve');
    await thread.shows(/Started, continues in this thread/);
    await fillIn(story, thread, /Input needed: Who travels/);
    await fillIn(story, thread, /Input needed: Which seat/, { 'field-0': '1' });
    await thread.shows(/Planned\./);
    expect(notes().filter((line) => line.startsWith('planned'))).toEqual([
      'planned accept Remi 3 accept window',
    ]);
    expect(story.toldOfCalls().join()).toContain('planned: accept Remi 3, accept window');
    expect(story.repliesIn(thread).filter(({ text }) => /approv|Started/i.test(text))).toHaveLength(1);
  });
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
  const { manifest, notes } = askingManifest('current', { elicitation: '{ ask: approvers }' });
  const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Booked.' }] });
  const thread = story.ask('book a table');
  await thread.click(remi, /Input needed/, 'fill-in');
  await story.noticeFor(remi, /Only the people this was sent to can answer/);
  await story.directly(alice).click(alice, /Input needed/, 'fill-in');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, FILLED);
  await thread.shows(/Booked\./);
  expect(booked(notes())).toEqual(['booked Monday accept Remi 3']);
});

test('an address is opened from a modal that names its host, by the person who is asked alone', async () => {
  const { manifest } = askingManifest('current');
  const story = await startStory({ manifest, replies: [ask('sign_in'), { text: 'Signed in.' }] });
  const thread = story.ask('sign in');
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
  const { manifest } = askingManifest('current');
  const story = await startStory({ manifest, replies: [ask('steal'), { text: 'I cannot.' }] });
  const thread = story.ask('use your key');
  await thread.shows(/I cannot\./);
  expect(story.toldOfCalls().join()).toMatch(/secrets are never asked for in forms/);
  expect(JSON.stringify(story.repliesIn(thread))).not.toMatch(/Input needed/);
});

test('an answer does not continue a call whose policy has changed since it was approved: it is asked anew', async () => {
  const { manifest, notes } = askingManifest('current', { rule: '{ policy: default }' });
  const story = await startStory({
    manifest,
    withoutBot: true,
    replies: [ask('book_table')],
  });
  const first = await story.startOwnBot();
  const thread = story.ask('book a table');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Input needed/);
  const { policies, ...rest } = first.toolbox.manifest;
  const policy = policies.get('default');
  if (policy === undefined) throw new Error('no policy');
  await first.toolbox.replace({
    ...rest,
    policies: new Map([['default', { ...policy, expiresMs: 7_000_000 }]]),
  });
  await fillIn(story, thread, /Input needed/);
  await thread.shows(/0 of 1 approvals/);
  expect(booked(notes())).toEqual([]);
});
