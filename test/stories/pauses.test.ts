import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { newFolder } from '../commands/support.ts';
import { CAST, type Story, type StoryOptions, startStory, type Thread } from './support.ts';

const { requester: remi, alice, bruno } = CAST;

interface DeskOptions extends Omit<StoryOptions, 'manifest' | 'replies'> {
  readonly policy?: string;
  /** Keys of the tools in the manifest. */
  readonly tools?: string;
  readonly approval?: string;
  readonly replies?: readonly ModelReply[];
}

type Calls = readonly (readonly [name: string, input: object])[];

/** Starts a bot with tools that pause, and a model that makes these calls in one round and then says something; gives what the tools noted. */
async function startDesk(
  calls: Calls,
  { policy = '', tools = '', approval = 'default', replies, ...options }: DeskOptions = {},
) {
  const file = join(newFolder(), 'notes');
  process.env.PAUSES_FILE = file;
  const story = await startStory({
    ...options,
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false }${policy} }
tools:
  desk: { module: ./test/stories/fixtures/pausing-tools.ts, approval: ${approval}${tools} }
`,
    replies: replies ?? [
      { calls: calls.map(([name, given]) => ({ name, arguments: given })) },
      { text: 'All done.' },
    ],
  });
  const runs = (): unknown[] =>
    readFileSync(file, { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  return { story, runs, thread: story.ask('please') };
}

/** Waits for the end of a story, and gives all that its thread shows: no card may wait, or say that something still runs. */
async function ended(story: Story, thread: Thread): Promise<string> {
  await thread.shows(/All done\./);
  await story.deliveredAll();
  const cards = story.repliesIn(thread).map(({ text, blocks }) => `${text}\n${JSON.stringify(blocks)}`);
  const shown = cards.join('\n\n');
  expect(shown).not.toMatch(/Started|Running|Starting|Approval needed|Waiting|continues/);
  expect(shown).not.toMatch(/"action_id":"(?!details|undo|ask-again)/);
  // A person is a mention, never an id among words.
  expect(shown).not.toMatch(/"text":"[^"]*U0[A-Z0-9]{8}/);
  return shown;
}

async function reject(story: Story, thread: Thread, words: RegExp, reason: string): Promise<void> {
  await thread.click(alice, words, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason });
}

const ROOM = { tool: 'book_room', guest: 'Ada' };
const ANSWER = /Approval needed: Answer for: Book a room for Ada/;

/** Has a call approved that asks for a room, and lets the requester choose the blue one. */
async function chooseRoom(options: DeskOptions = {}) {
  const desk = await startDesk([['book_room', { guest: 'Ada' }]], options);
  const { story, thread } = desk;
  await thread.click(alice, /Approval needed: Book a room for Ada/, 'approve');
  await thread.click(alice, /Which room does Ada get\?/, 'choose:1');
  await story.noticeFor(alice, /Only the people this was sent to/);
  await thread.shows(/Started: Book a room for Ada/);
  await thread.click(remi, /Which room does Ada get\?/, 'choose:1');
  return desk;
}

test('a choice in an approved call is shown to the approvers, and the tool goes on only after their approval', async () => {
  const { story, runs, thread } = await chooseRoom();
  const card = JSON.stringify((await thread.shows(ANSWER)).blocks);
  expect(card).toContain('Which room does Ada get?');
  expect(card).toContain('Blue room');
  await thread.click(remi, ANSWER, 'approve');
  await story.noticeFor(remi, /can approve this|can't approve/);
  expect(runs()).toEqual([ROOM]);
  await thread.click(bruno, ANSWER, 'approve');
  await ended(story, thread);
  expect(runs()).toEqual([ROOM, { ...ROOM, resumed: { room: 'Blue', by: remi } }]);
  expect(story.toldOfCalls()).toEqual(['{"booked":"Blue"}']);
});

test('a rejected answer ends the call as denied, and the tool is not run again', async () => {
  const { story, runs, thread } = await chooseRoom();
  await reject(story, thread, ANSWER, 'Blue is being painted.');
  await ended(story, thread);
  expect(runs()).toEqual([ROOM]);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/denied[\s\S]*Blue is being painted\./)]);
});

test('a form in an approved call: its values are approved, and then the tool gets them', async () => {
  const { story, runs, thread } = await startDesk([['order_badge', { guest: 'Ada' }]]);
  await thread.click(alice, /Approval needed: Order a badge/, 'approve');
  await thread.click(remi, /Which company is Ada from\?/, 'fill-in');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, { 'field-0': 'Engines Ltd' });
  const answer = /Approval needed: Answer for: Order a badge for Ada/;
  const card = JSON.stringify((await thread.shows(answer)).blocks);
  expect(card).toContain('Which company is Ada from?');
  expect(card).toContain('Engines Ltd');
  expect(runs()).toHaveLength(1);
  await thread.click(alice, answer, 'approve');
  await ended(story, thread);
  expect(runs().at(-1)).toEqual({
    ...{ tool: 'order_badge', guest: 'Ada' },
    resumed: { company: 'Engines Ltd', by: remi },
  });
  expect(story.toldOfCalls()).toEqual(['{"ordered":"Engines Ltd"}']);
});

test('a confirmation in an approved call is one approval more, and its yes needs none', async () => {
  const { story, runs, thread } = await startDesk([['book_seat', { guest: 'Ada' }]]);
  await thread.click(alice, /Approval needed: Book a seat for Ada/, 'approve');
  const question =
    /Approval needed: Confirmation for: Book a seat for Ada[\s\S]*A seat for Ada costs 10\. Book it\?/;
  await thread.click(remi, question, 'approve');
  await story.noticeFor(remi, /can approve this/);
  await thread.click(bruno, question, 'approve');
  await ended(story, thread);
  const run = { tool: 'book_seat', guest: 'Ada' };
  expect(runs()).toEqual([run, { ...run, resumed: { status: 'APPROVED', by: bruno } }]);
  expect(story.toldOfCalls()).toEqual(['{"seat":"Ada"}']);
});

test('calls that pause beside others in one round are neither joined nor lost, and the results are in order', async () => {
  const { story, runs, thread } = await startDesk(
    [
      ['book_room', { guest: 'Ada' }],
      ['greet_guest', { guest: 'Bob' }],
      ['pay_guest', { guest: 'Cid' }],
      ['book_room', { guest: 'Ada' }],
    ],
    { approval: '[{ match: pay_guest, policy: default }, { require: never }]' },
  );
  await thread.shows(/Which room does Ada get\?/);
  await thread.shows(/Approval needed: Pay Cid/);
  await story.deliveredAll();
  const asked = story
    .repliesIn(thread)
    .filter(({ text, blocks }) => /Which room/.test(`${text}${JSON.stringify(blocks)}`));
  expect(asked).toHaveLength(2);
  const [first, second] = asked.map(({ ts }) => ({ channel: thread.channel, ts }));
  if (first === undefined || second === undefined) throw new Error('not asked');
  await story.workspace.as(remi).click(second, 'choose:1');
  await thread.click(alice, /Approval needed: Pay Cid/, 'approve');
  await story.workspace.as(remi).click(first, 'choose:0');
  await ended(story, thread);
  expect(story.toldOfCalls()).toEqual([
    '{"booked":"Red"}',
    '{"greeted":"Bob"}',
    '{"paid":"Cid"}',
    '{"booked":"Blue"}',
  ]);
  expect(runs()).toHaveLength(6);
});

test('an edit on the card of a confirmation makes a new call: asked by the rules, and then by its tool with the new values', async () => {
  const { story, runs, thread } = await startDesk([['book_seat', { guest: 'Ada' }]]);
  await thread.click(alice, /Approval needed: Book a seat for Ada/, 'approve');
  await thread.click(bruno, /A seat for Ada costs 10\. Book it\?/, 'edit');
  const modal = await story.modalFor(bruno);
  await story.workspace.as(bruno).submit(modal.id, { 'field-0': 'Eve' });
  // Who edits a call is a requester of it.
  const rules = /Approval needed: Book a seat for Eve/;
  await thread.click(bruno, rules, 'approve');
  await story.noticeFor(bruno, /./);
  expect(runs()).toHaveLength(1);
  await thread.click(alice, rules, 'approve');
  await thread.click(alice, /A seat for Eve costs 10\. Book it\?/, 'approve');
  await ended(story, thread);
  expect(runs()).toEqual([
    { tool: 'book_seat', guest: 'Ada' },
    { tool: 'book_seat', guest: 'Eve' },
    { tool: 'book_seat', guest: 'Eve', resumed: { status: 'APPROVED', by: alice } },
  ]);
  expect(story.toldOfCalls().at(-1)).toMatch(/"seat":"Eve"/);
});

test('an edit on the card of a confirmation in a call without approval is approved, and then confirmed', async () => {
  const { story, runs, thread } = await startDesk([['book_seat', { guest: 'Ada' }]], { approval: 'never' });
  await thread.click(bruno, /A seat for Ada costs 10\. Book it\?/, 'edit');
  const modal = await story.modalFor(bruno);
  await story.workspace.as(bruno).submit(modal.id, { 'field-0': 'Eve' });
  await thread.click(alice, /Approval needed: Book a seat for Eve/, 'approve');
  await thread.click(alice, /A seat for Eve costs 10\. Book it\?/, 'approve');
  await ended(story, thread);
  expect(runs().at(-1)).toMatchObject({ guest: 'Eve', resumed: { status: 'APPROVED', by: alice } });
});

const REVERSIBLE = { tools: ', reversible: yes' };
const PLAN = (...names: string[]) =>
  [
    [
      'propose_plan',
      { goal: 'Welcome them', steps: names.map((tool) => ({ tool, input: { guest: 'Ada' } })) },
    ],
  ] as const;

const LEFT = expect.stringMatching(/A step before these has begun and waits for people/);

test('a step of a plan that asks its requester stops the plan there, goes on with the answer, and the model is told what is left', async () => {
  const { story, runs, thread } = await startDesk(PLAN('greet_guest', 'book_room', 'pay_guest'), REVERSIBLE);
  await thread.click(alice, /3 (of \d )?planned step/, 'approve');
  await thread.shows(/Which room does Ada get\?/);
  await thread.shows(
    /Stopped after 1 of 3 steps[\s\S]*✅ 1\. Greet Ada[\s\S]*⏳ 2\. Book a room[\s\S]*⏸️ 3\. Pay Ada/,
  );
  await thread.click(remi, /Which room does Ada get\?/, 'choose:1');
  await thread.click(alice, ANSWER, 'approve');
  await ended(story, thread);
  await thread.shows(/Stopped after 2 of 3 steps[\s\S]*✅ 2\. Booked a room for Ada[\s\S]*⏸️ 3\. Pay Ada/);
  expect(runs()).toEqual([
    { tool: 'greet_guest', guest: 'Ada' },
    ROOM,
    { ...ROOM, resumed: { room: 'Blue', by: remi } },
  ]);
  expect(story.toldOfCalls()).toEqual([LEFT, '{"greeted":"Ada"}', '{"booked":"Blue"}', LEFT]);
});

test.each([
  { decision: 'approve', step: /✅ 2\. Book a seat/, told: '{"seat":"Ada"}', count: 3 },
  { decision: 'reject', step: /❌ 2\. Book a seat/, told: expect.stringMatching(/denied/), count: 2 },
])(
  'a step of a plan that asks for a confirmation stops the plan there, and ends as that does: $decision',
  async ({ decision, step, told, count }) => {
    const { story, runs, thread } = await startDesk(
      PLAN('greet_guest', 'book_seat', 'pay_guest'),
      REVERSIBLE,
    );
    await thread.click(alice, /3 (of \d )?planned step/, 'approve');
    const question = /A seat for Ada costs 10\. Book it\?/;
    if (decision === 'approve') await thread.click(bruno, question, 'approve');
    else await reject(story, thread, question, 'Too much.');
    await ended(story, thread);
    await thread.shows(step);
    expect(runs()).toHaveLength(count);
    expect(story.toldOfCalls()).toEqual([LEFT, '{"greeted":"Ada"}', told, LEFT]);
  },
);

const SEAT = { tool: 'book_seat', guest: 'Ada' };

test.each([
  { approval: 'never', runsAfter: [SEAT, { ...SEAT, resumed: { status: 'APPROVED', by: remi } }] },
  { approval: 'default', runsAfter: [SEAT, { ...SEAT, resumed: { status: 'APPROVED', by: remi } }] },
])(
  'a confirmation that the requester answers is a question with Approve and Reject, with approval: $approval',
  async ({ approval, runsAfter }) => {
    const { story, runs, thread } = await startDesk([['book_seat', { guest: 'Ada' }]], {
      approval,
      tools: ', answers: requester',
    });
    if (approval === 'default') {
      await thread.click(remi, /Approval needed: Book a seat/, 'approve');
      await story.noticeFor(remi, /can approve this/);
      expect(runs()).toEqual([]);
      await thread.click(alice, /Approval needed: Book a seat/, 'approve');
    }
    const question = /A seat for Ada costs 10\. Book it\?[\s\S]*Question for/;
    const card = JSON.stringify((await thread.shows(question)).blocks);
    expect(card).toMatch(/"text":"Approve"[\s\S]*"text":"Reject"/);
    await thread.click(alice, question, 'choose:0');
    await story.noticeFor(alice, /Only the people this was sent to/);
    await thread.click(remi, question, 'choose:0');
    await ended(story, thread);
    expect(runs()).toEqual(runsAfter);
    expect(story.toldOfCalls()).toEqual(['{"seat":"Ada"}']);
  },
);

test('a requester who says no ends the call as denied, without a run', async () => {
  const { story, runs, thread } = await startDesk([['book_seat', { guest: 'Ada' }]], {
    tools: ', answers: requester',
  });
  await thread.click(alice, /Approval needed: Book a seat/, 'approve');
  await thread.click(remi, /Book it\?[\s\S]*Question for/, 'choose:1');
  await ended(story, thread);
  expect(runs()).toEqual([SEAT]);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/denied/)]);
});

test('a withdrawn question ends its approved call, and the model is told', async () => {
  const { story, runs, thread } = await startDesk([['book_room', { guest: 'Ada' }]]);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.click(remi, /Which room does Ada get\?/, 'withdraw');
  await ended(story, thread);
  expect(runs()).toEqual([ROOM]);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/withdrawn/)]);
});

test('a question that nobody answers in time ends its approved call, and the model is told', async () => {
  const { story, runs, thread } = await startDesk([['book_room', { guest: 'Ada' }]], {
    policy: ` }\n  short: { approvers: [${bruno}], expires: 2s, notify: { direct_messages: false }`,
    tools: ', answers: short',
  });
  await thread.click(alice, /Approval needed: Book a room/, 'approve');
  await thread.shows(/Which room does Ada get\?/);
  await ended(story, thread);
  expect(runs()).toEqual([ROOM]);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/expired/)]);
});

test.each([
  { tool: 'book_room', question: /Which room does Ada get\?/ },
  { tool: 'book_seat', question: /A seat for Ada costs 10\. Book it\?/ },
])(
  'a stop while $tool waits for its answer ends the call, and nothing is stuck',
  async ({ tool, question }) => {
    const { story, runs, thread } = await startDesk([[tool, { guest: 'Ada' }]]);
    await thread.click(alice, /Approval needed/, 'approve');
    const card = await thread.shows(question);
    story.ask('stop', { threadTs: thread.ts });
    await story.workspace.until(
      () =>
        !JSON.stringify(story.workspace.state.findMessage(thread.channel, card.ts)?.blocks).includes(
          '"choose:0"',
        ),
      { what: 'the end of the question' },
    );
    await story.deliveredAll();
    story.ask('and now?', { threadTs: thread.ts });
    await ended(story, thread);
    expect(runs()).toHaveLength(1);
  },
);

test('a confirmation in an approved call leaves one way to undo it', async () => {
  const { story, thread } = await startDesk([['book_desk', { guest: 'Ada' }]]);
  await thread.click(alice, /Approval needed: Book a desk for Ada/, 'approve');
  await thread.click(bruno, /A desk for Ada\?/, 'approve');
  const shown = await ended(story, thread);
  expect(shown.match(/"action_id":"undo"/g)).toHaveLength(1);
});

/** Has a first call approved with a grant for one more, lets both ask, and gives the thread when the second one has asked. */
async function startGranted(tool: string, question: RegExp) {
  const call = { calls: [{ name: tool, arguments: { guest: 'Ada' } }] };
  const desk = await startDesk([], {
    policy: ', grants: { for: 2h, uses: 1 }',
    slack: { app: { commands: ['/countersign'] } },
    replies: [call, { text: 'One.' }, call, { text: 'All done.' }],
  });
  const { story, thread } = desk;
  const card = await thread.shows(/Approval needed/);
  const person = story.workspace.as(alice);
  await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await story.modalFor(alice, /without asking anyone/);
  await person.submit(modal.id, {});
  return { ...desk, question };
}

test('a call under a grant that asks for a choice: its answer is approved under the same policy, by nobody who gave it', async () => {
  const question = /Which room does Ada get\?[\s\S]*Question for/;
  const { story, runs, thread } = await startGranted('book_room', question);
  await thread.click(remi, question, 'choose:0');
  await thread.click(alice, ANSWER, 'approve');
  await thread.shows(/One\./);
  story.ask('and another', { threadTs: thread.ts });
  await thread.shows(/ started · pre-approved by /);
  await thread.click(remi, question, 'choose:1');
  await thread.click(remi, ANSWER, 'approve');
  await story.noticeFor(remi, /can approve this/);
  expect(runs()).toHaveLength(3);
  await thread.click(bruno, ANSWER, 'approve');
  await thread.shows(/All done\./);
  expect(runs().at(-1)).toEqual({ ...ROOM, resumed: { room: 'Blue', by: remi } });
  expect(story.toldOfCalls().at(-1)).toBe('{"booked":"Blue"}');
});

test('a call under a grant that asks for a confirmation asks the approvers', async () => {
  const question = /Approval needed: Confirmation for: Book a seat for Ada/;
  const { story, runs, thread } = await startGranted('book_seat', question);
  await thread.click(alice, question, 'approve');
  await thread.shows(/One\./);
  story.ask('and another', { threadTs: thread.ts });
  await thread.click(remi, question, 'approve');
  await story.noticeFor(remi, /can approve this/);
  expect(runs()).toHaveLength(3);
  await thread.click(bruno, question, 'approve');
  await thread.shows(/All done\./);
  expect(runs().at(-1)).toEqual({ ...SEAT, resumed: { status: 'APPROVED', by: bruno } });
});

test('an approver who answers a form of an approved call does not approve the answer', async () => {
  const { story, runs, thread } = await startDesk([['order_badge', { guest: 'Ada' }]], {
    tools: ', answers: default',
  });
  await thread.click(alice, /Approval needed: Order a badge/, 'approve');
  await thread.click(bruno, /Which company is Ada from\?/, 'fill-in');
  const modal = await story.modalFor(bruno);
  await story.workspace.as(bruno).submit(modal.id, { 'field-0': 'Engines Ltd' });
  const answer = /Approval needed: Answer for: Order a badge for Ada/;
  await thread.click(bruno, answer, 'approve');
  await story.noticeFor(bruno, /./);
  expect(runs()).toHaveLength(1);
  await thread.click(alice, answer, 'approve');
  await ended(story, thread);
  expect(runs().at(-1)).toMatchObject({ resumed: { company: 'Engines Ltd', by: bruno } });
});

test('a choice that approvers decide in an approved call is one vote, and goes on with what they chose', async () => {
  const { story, runs, thread } = await startDesk([['book_room', { guest: 'Ada' }]], {
    tools: ', answers: approvers',
  });
  await thread.click(alice, /Approval needed: Book a room/, 'approve');
  const question = /Approval needed: Confirmation for: Book a room for Ada[\s\S]*Which room/;
  await thread.click(remi, question, 'choose:1');
  await story.noticeFor(remi, /can approve this/);
  await thread.click(bruno, question, 'choose:1');
  await ended(story, thread);
  expect(runs()).toEqual([ROOM, { ...ROOM, resumed: { room: 'Blue', by: bruno } }]);
});
