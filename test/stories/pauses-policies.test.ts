import { expect, test } from 'vitest';
import { CAST, type Story, type StoryOptions, startStory, type Thread } from './support.ts';

const { requester: remi, alice, bruno, admin } = CAST;

/** The rooms under a policy that answers; `more` adds to the policy. */
const rooms = (answers: string, more = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], notify: { direct_messages: false } }
  one: { approvers: [${remi}, ${alice}, ${bruno}], notify: { direct_messages: false }${more} }
  two: { approvers: [${alice}, ${bruno}, ${admin}], quorum: 2, notify: { direct_messages: false } }
tools:
  rooms: { module: ./test/stories/fixtures/deciding-tools.ts, approval: never, answers: ${answers} }
`;

/** Starts a bot whose model makes one call and then says what came of it. */
function startRooms(
  answers: string,
  name: string,
  input: object,
  options: StoryOptions & { more?: string } = {},
) {
  return startStory({
    manifest: rooms(answers, options.more),
    replies: [{ calls: [{ name, arguments: input }] }, { text: 'All done.' }],
    ...options,
  });
}

/** The results that the model read. */
const told = (story: Story) =>
  story.toldOfCalls().map((text): unknown => (text.startsWith('{') ? JSON.parse(text) : text));

const COLOURS = ['Red', 'Blue'];
const ASKING = [
  {
    what: 'an interrupt',
    name: 'pick_colour',
    input: { question: 'Which colour?', choices: COLOURS },
    got: (colour: string, _by: string): unknown => colour,
  },
  {
    what: 'a tool in the middle',
    name: 'paint_room',
    input: { choices: COLOURS },
    got: (painted: string, by: string): unknown => ({ painted, by }),
  },
];
const QUESTION = /Which colour\?/;

test.each(ASKING)(
  '$what under a policy: one click of an approver decides, and none of the requester',
  async ({ name, input, got }) => {
    const story = await startRooms('one', name, input);
    const thread = story.ask('which colour?');
    await thread.click(remi, QUESTION, 'choose:0');
    await story.noticeFor(remi, /You took part in requesting this/);
    await thread.click(admin, QUESTION, 'choose:0');
    await story.noticeFor(admin, /can approve this/);
    await thread.click(alice, QUESTION, 'choose:1');
    await thread.shows(/All done\./);
    expect(told(story)).toEqual([got('Blue', alice)]);
  },
);

test.each(ASKING)(
  '$what of "approvers" asks those of the policy that its rules name',
  async ({ name, input, got }) => {
    const story = await startRooms('approvers', name, input);
    const thread = story.ask('which colour?');
    await thread.click(bruno, QUESTION, 'choose:0');
    await story.noticeFor(bruno, /can approve this/);
    await thread.click(alice, QUESTION, 'choose:0');
    await thread.shows(/All done\./);
    expect(told(story)).toEqual([got('Red', alice)]);
  },
);

test.each(ASKING)(
  '$what under a policy of two: both have to choose the same',
  async ({ name, input, got }) => {
    const story = await startRooms('two', name, input);
    const thread = story.ask('which colour?');
    await thread.click(alice, QUESTION, 'choose:1');
    await thread.shows(/Chosen so far:[\s\S]*Blue[\s\S]*1 of 2|1 of 2[\s\S]*Chosen so far:[\s\S]*Blue/);
    await thread.click(bruno, QUESTION, 'choose:0');
    await thread.shows(/Chosen so far:[\s\S]*Red/);
    expect(JSON.stringify(story.model.requests).includes('All done')).toBe(false);
    await thread.click(alice, QUESTION, 'choose:1');
    await thread.shows(/Chosen so far:[\s\S]*Blue/);
    await thread.click(bruno, QUESTION, 'choose:1');
    await thread.shows(/All done\./);
    expect(told(story)).toEqual([got('Blue', bruno)]);
  },
);

test('a no of an approver ends a question with choices, and nothing runs', async () => {
  const story = await startRooms('two', 'paint_room', { choices: COLOURS });
  const thread = story.ask('paint it');
  await thread.click(alice, QUESTION, 'choose:1');
  await thread.click(bruno, QUESTION, 'reject');
  const modal = await story.modalFor(bruno);
  await story.workspace.as(bruno).submit(modal.id, { reason: 'Leave it white.' });
  await thread.shows(/All done\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/denied[\s\S]*Leave it white\./)]);
});

test('more than five choices are a menu for approvers', async () => {
  const choices = ['Red', 'Blue', 'Green', 'Pink', 'Grey', 'Teal'];
  const story = await startRooms('one', 'paint_room', { choices });
  const thread = story.ask('paint it');
  const card = await thread.shows(QUESTION);
  expect(JSON.stringify(card.blocks)).toContain('"type":"static_select"');
  await select(story, thread, alice, '5');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ painted: 'Teal', by: alice }]);
});

test('choices that a button would cut are listed in full', async () => {
  const long = 'a very long description of a colour, '.repeat(4);
  const choices = [`${long}red`, `${long}blue`];
  const story = await startRooms('one', 'paint_room', { choices });
  const thread = story.ask('paint it');
  const card = JSON.stringify((await thread.shows(QUESTION)).blocks);
  for (const [index, choice] of choices.entries()) expect(card).toContain(`${index + 1}. ${choice}`);
  await select(story, thread, alice, '1');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ painted: `${long}blue`, by: alice }]);
});

test('a form under a policy is filled in by an approver, and not by the requester', async () => {
  const story = await startRooms('one', 'name_room', {});
  const thread = story.ask('name it');
  const fillIn = async (who: string) => {
    await thread.click(who, /Which name\?/, 'fill-in');
    const modal = await story.modalFor(who);
    return story.workspace.as(who).submit(modal.id, { 'field-0': who });
  };
  expect(await fillIn(remi)).toMatchObject({
    errors: { 'field-0': 'You took part in requesting this, so someone else has to answer it.' },
  });
  await fillIn(alice);
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ named: alice }]);
});

test('a policy that lets requesters approve lets them fill in a form', async () => {
  const story = await startRooms('one', 'name_room', {}, { more: ', self_approval: true' });
  const thread = story.ask('name it');
  await thread.click(remi, /Which name\?/, 'fill-in');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, { 'field-0': 'Ada' });
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ named: 'Ada' }]);
});

test('a form under a policy of two is refused in one sentence', async () => {
  const story = await startRooms('two', 'name_room', {});
  const thread = story.ask('name it');
  await thread.shows(/All done\./);
  expect(story.toldOfCalls()).toEqual([
    expect.stringMatching(/policy \\"two\\" needs more than one click, and a form takes one answer/),
  ]);
});

test('a report of another system is nobody’s vote, so the policy does not stand in its way', async () => {
  const story = await startRooms('two', 'clean_room', {}, { withoutBot: true });
  const bot = await story.startOwnBot();
  const thread = story.ask('clean it');
  await thread.click(remi, /The cleaning/, 'show-address');
  const notice = await story.noticeFor(remi, /report back/);
  const [path = ''] = /\/callback\/[\w.-]+/.exec(notice.text) ?? [];
  const sent = await fetch(`http://127.0.0.1:${bot.port}${path}`, { method: 'POST', body: '{}' });
  expect(sent.status).toBe(200);
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ clean: true }]);
});

test.each([
  ['choices', 'paint_room', { choices: COLOURS }],
  ['a form', 'name_room', {}],
])('%s expire when the policy says so', async (_what, name, input) => {
  const story = await startRooms('one', name, input, {
    more: ', expires: 1s',
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const thread = story.ask('which?');
  await thread.shows(/All done\./);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('expired')]);
});

/** Chooses from the menu of the card. */
async function select(story: Story, thread: Thread, who: string, value: string) {
  const card = await thread.shows(QUESTION);
  const place = { channel: thread.channel, ts: card.ts };
  return story.workspace.as(who).click(place, 'choose-from-menu', { value });
}

test.each([
  ['differ only after the 75th character', ['a'.repeat(80), `${'a'.repeat(80)}b`], (label: string) => label],
  [
    'differ only by what nobody sees',
    ['Red', 'R\u200bed'],
    (label: string) => label.replace('\u200b', '\\\\u{200b}'),
  ],
  ['name everybody', ['<!channel> <@U0ALICE002>', '@here <b>x</b>'], (label: string) => label],
])('choices that %s are told apart, and nothing in them is live', async (_what, choices, shown) => {
  const story = await startRooms('one', 'paint_room', { choices });
  const thread = story.ask('paint it');
  const card = await thread.shows(QUESTION);
  const live = JSON.stringify(card.blocks, (_key, value: unknown) => (isPlain(value) ? undefined : value));
  expect(live).not.toMatch(/<!channel>|<@U0ALICE002> *</);
  for (const choice of choices)
    expect(JSON.stringify(card.blocks).toLowerCase()).toContain(shown(choice).toLowerCase());
  if (JSON.stringify(card.blocks).includes('static_select')) await select(story, thread, alice, '1');
  else await thread.click(alice, QUESTION, 'choose:1');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ painted: choices[1], by: alice }]);
});

/** Tells whether a part of a card is shown letter by letter. */
function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'plain_text';
}
