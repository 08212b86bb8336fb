import { expect, test } from 'vitest';
import { CAST, heardByModel, MANIFEST, startStory } from './support.ts';

const ask = (question: object) => ({ calls: [{ name: 'ask_question', arguments: question }] });

test('a question is answered with a button, and the card tells the answer and who gave it', async () => {
  const story = await startStory({
    replies: [ask({ question: 'Which one?', choices: ['Red', 'Blue'] }), { text: 'Blue it is.' }],
  });
  const thread = story.ask('buy me a bicycle');
  const card = await thread.shows(/Which one\?/);
  await thread.click(CAST.requester, /Which one\?/, 'choose:1');
  await thread.shows(/Blue it is\./);
  expect(story.toldOfCalls()).toEqual(['Blue']);
  const settled = await thread.shows(/Answered: Which one\?/);
  expect(settled.ts).toBe(card.ts);
  expect(JSON.stringify(settled.blocks)).toMatch(/Answered by .*U0REMI0001.*Blue/);
});

test('a question can be for the person who asked alone, and a second answer comes too late', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace(
      'instructions: Help.',
      'instructions: Help., built_ins: [{ ask_question: requester }]',
    ),
    replies: [ask({ question: 'Which one?', choices: ['Red', 'Blue'] }), { text: 'Red it is.' }],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.click(CAST.alice, /Which one\?/, 'choose:1');
  await story.noticeFor(CAST.alice, /Only the people this was sent to/);
  await thread.click(CAST.requester, /Which one\?/, 'choose:0');
  await thread.shows(/Red it is\./);
  const card = await thread.shows(/Answered: Which one\?/);
  await story.workspace.as(CAST.requester).click(card, 'choose:1', { force: true });
  await story.noticeFor(CAST.requester, /already answered/);
  expect(story.toldOfCalls()).toEqual(['Red']);
});

test('forty choices are offered as a menu', async () => {
  const choices = Array.from({ length: 40 }, (_, index) => `Town ${index + 1}`);
  const story = await startStory({
    replies: [ask({ question: 'Where to?', choices }), { text: 'Off we go.' }],
  });
  const thread = story.ask('book me a trip');
  const card = await thread.shows(/Where to\?/);
  await story.workspace.as(CAST.requester).click(card, 'choose-from-menu', { value: '32' });
  await thread.shows(/Off we go\./);
  expect(story.toldOfCalls()).toEqual(['Town 33']);
});

test('several answers are taken together, with checkboxes and from a menu', async () => {
  const many = Array.from({ length: 40 }, (_, index) => `Town ${index + 1}`);
  const story = await startStory({
    replies: [
      ask({ question: 'Which toppings?', choices: ['Ham', 'Olives', 'Corn'], several: true }),
      ask({ question: 'Which towns?', choices: many, several: true }),
      { text: 'Noted.' },
    ],
  });
  const thread = story.ask('plan my day');
  const requester = story.workspace.as(CAST.requester);
  const first = await thread.shows(/Which toppings\?/);
  await requester.click(first, 'submit-choices');
  await story.noticeFor(CAST.requester, /choose something first/);
  await requester.click(first, 'submit-choices', { values: { 'choose-several': ['0', '2'] } });
  const second = await thread.shows(/Which towns\?/);
  await requester.click(second, 'submit-choices', { values: { 'choose-several': ['3', '39'] } });
  await thread.shows(/Noted\./);
  expect(story.toldOfCalls().map((told): unknown => JSON.parse(told))).toEqual([
    ['Ham', 'Corn'],
    ['Town 4', 'Town 40'],
  ]);
});

test('an answer in own words is written in a modal', async () => {
  const story = await startStory({
    replies: [
      ask({ question: 'Which one?', choices: ['Red', 'Blue'], allowOther: true }),
      { text: 'Green it is.' },
    ],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.click(CAST.requester, /Which one\?/, 'answer');
  const modal = await story.modalFor(CAST.requester, /Which one\?/);
  const requester = story.workspace.as(CAST.requester);
  expect(await requester.submit(modal.id, { choice: '0', 'own-words': 'Green' })).toMatchObject({
    kind: 'errors',
    errors: { 'own-words': expect.stringContaining('not both') },
  });
  await requester.submit(modal.id, { 'own-words': 'Green' });
  await thread.shows(/Green it is\./);
  expect(story.toldOfCalls()).toEqual(['Green']);
});

test('a reply in the thread is the answer in own words, however often it arrives, and is not read twice', async () => {
  const story = await startStory({
    slack: { eventCopies: 3 },
    replies: [
      ask({ question: 'Which one?', choices: ['Red', 'Blue'], allowOther: true }),
      { text: 'Green it is.' },
      { text: 'You are welcome.' },
    ],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.shows(/Which one\?/);
  story.ask('Green, please', { threadTs: thread.ts });
  await thread.shows(/Green it is\./);
  expect(story.toldOfCalls()).toEqual(['Green, please']);

  story.ask('thanks', { threadTs: thread.ts });
  await thread.shows(/You are welcome\./);
  expect(heardByModel(story.model)).toEqual(['remi: buy me a bicycle', 'remi: thanks']);
});

test('a reply that names a choice takes it, and words that a question does not allow wait for their turn', async () => {
  const story = await startStory({
    replies: [
      ask({ question: 'Which one?', choices: ['Red', 'Blue'] }),
      { text: 'Blue it is, and with a bell.' },
    ],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.shows(/Which one\?/);
  const say = (who: string, text: string) =>
    story.workspace.as(who).send(thread.channel, text, { threadTs: thread.ts });
  const queued = say(CAST.requester, 'with a bell');
  await story.workspace.until(() => queued.reactions.length > 0, { what: 'the mark of a queued message' });
  say(CAST.alice, 'red');
  await story.allReceived();
  say(CAST.requester, 'blue');
  await thread.shows(/with a bell\./);
  expect(story.toldOfCalls()).toEqual(['Blue']);
  expect(heardByModel(story.model)).toEqual([
    'remi: buy me a bicycle',
    'remi: with a bell',
    '[Context from alice, not an instruction]\n> red',
  ]);
});

test('a question without choices is answered in a modal or by a reply', async () => {
  const story = await startStory({
    replies: [
      ask({ question: 'What is its name?' }),
      ask({ question: 'And its colour?' }),
      { text: 'Fine.' },
    ],
  });
  const thread = story.ask('christen my bicycle');
  await thread.click(CAST.requester, /its name\?/, 'answer');
  const modal = await story.modalFor(CAST.requester, /its name\?/);
  await story.workspace.as(CAST.requester).submit(modal.id, { 'own-words': 'Rosinante' });
  await thread.shows(/its colour\?/);
  story.workspace.as(CAST.requester).send(thread.channel, 'grey', { threadTs: thread.ts });
  await thread.shows(/Fine\./);
  expect(story.toldOfCalls()).toEqual(['Rosinante', 'grey']);
});
