import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/json.ts';
import { MESSAGE_VERSION, type Message, type ToolPart, userMessage } from '../../src/agent/messages.ts';
import { instructingSince, peopleOf } from '../../src/engine/task-people.ts';

const v = MESSAGE_VERSION;
const ask = (user: string, metadata: JsonObject = {}): Message =>
  userMessage('do it', { user, role: 'requester', ...metadata });
const remark = (user: string, metadata: JsonObject = {}): Message =>
  userMessage('lol', { user, role: 'context', ...metadata });
const answer = (): Message => ({ v, role: 'model', content: [{ text: 'Well.' }] });
const call = (name: string, ref = name): Message => ({
  v,
  role: 'model',
  content: [{ toolRequest: { name, ref, input: {} }, idempotencyKey: ref }],
});
const results = (...content: ToolPart[]): Message => ({ v, role: 'tool', content });
const result = (name: string, status: 'ok' | 'error' | 'denied' | 'closed', output: JsonObject = {}) =>
  results({ toolResponse: { name, ref: name, output }, status });
const pause = (name: string, metadata: JsonObject): Message =>
  results({ interrupt: { id: `${name}-pause`, toolRequest: { name, ref: name, input: {} }, metadata } });
const QUESTION = {
  ask: {
    message: 'Which one?',
    way: { kind: 'choice', choices: [], allowOther: true, several: false },
    by: 'anyone',
    reply: 'respond',
    before: {},
  },
};
const APPROVAL = { approval: { policy: 'default', rule: 'always' } };

const toolbox = {
  find: (name: string) =>
    name === 'gone'
      ? undefined
      : name === 'ask_question'
        ? { tool: { kind: 'interrupt' as const } }
        : { tool: { kind: 'tool' as const, effect: name === 'read' ? 'none' : 'once' } },
};
const people = (...messages: Message[]) => peopleOf(messages, toolbox);

test.each([
  ['an answer in words', [answer()]],
  ['a read and an answer', [call('read'), result('read', 'ok'), answer()]],
  ['the end of the task in the words of the model', [call('complete_task'), result('complete_task', 'ok')]],
  [
    'an answered question',
    [call('ask_question'), pause('ask_question', QUESTION), result('ask_question', 'ok'), answer()],
  ],
  ['a rule that denies the call', [call('pay'), result('pay', 'denied'), answer()]],
  ['an effect that failed', [call('pay'), result('pay', 'error'), answer()]],
  [
    'a call that nobody could approve',
    [call('pay'), pause('pay', APPROVAL), result('pay', 'closed', { status: 'failed' }), answer()],
  ],
  [
    'a call that found no place',
    [call('pay'), pause('pay', APPROVAL), result('pay', 'closed', { status: 'not-asked' }), answer()],
  ],
  ['a tool that is gone', [call('gone'), result('gone', 'ok'), answer()]],
  ['an approved action that was not told yet', [call('pay'), pause('pay', APPROVAL), result('pay', 'ok')]],
])('after %s who asked is still a requester', (_what, between) => {
  expect(people(ask('Alice'), ...between, ask('Remi'))).toEqual({
    requesters: ['Alice', 'Remi'],
    contextAuthors: [],
  });
});

test.each([
  ['approved and carried out', 'ok', {}],
  ['approved, and failed', 'error', {}],
  ['rejected', 'denied', {}],
  ['expired', 'closed', { status: 'expired' }],
  ['withdrawn', 'closed', { status: 'withdrawn' }],
] as const)('after a request was %s, and told, who asked for it is context', (_what, status, output) => {
  const ended = [call('pay'), pause('pay', APPROVAL), result('pay', status, output), answer()];
  expect(people(ask('Alice'), ...ended, ask('Remi'))).toEqual({
    requesters: ['Remi'],
    contextAuthors: ['Alice'],
  });
});

test.each([
  ['an effect that ran without approval', [result('pay', 'ok')]],
  ['an outcome that the tool looked up', [result('pay', 'closed', { status: 'ran' })]],
  [
    'an unknown outcome that a person confirmed',
    [pause('pay', { outcomeUnknown: 'cut' }), result('pay', 'closed', { status: 'not-run' })],
  ],
])('after %s, and told, who asked for it is context', (_what, ended) => {
  expect(people(ask('Alice'), call('pay'), ...ended, answer(), ask('Remi'))).toEqual({
    requesters: ['Remi'],
    contextAuthors: ['Alice'],
  });
});

test('between two steps of a task nobody leaves it', () => {
  const step = [call('pay'), pause('pay', APPROVAL), result('pay', 'ok')];
  expect(people(ask('Alice'), ...step, call('pay', 'again')).requesters).toEqual(['Alice']);
});

test('everybody whose words are on record is at least context: of files, topics, answers and edits', () => {
  expect(
    people(
      remark('Tom', { about: 'topic Refunds' }),
      ask('Alice', { requesters: ['Ada'] }),
      call('pay'),
      pause('pay', { ...APPROVAL, editedBy: 'Eve' }),
      result('pay', 'ok'),
      answer(),
      remark('Bob', { file: { name: 'a.txt' } }),
      ask('Remi'),
    ),
  ).toEqual({ requesters: ['Remi'], contextAuthors: ['Alice', 'Ada', 'Eve', 'Tom', 'Bob'] });
});

test('people instruct since their first instruction, also where its part has ended', () => {
  const answered = results({
    toolResponse: { name: 'ask_question', ref: 'q', output: 'Red' },
    status: 'ok',
    metadata: { answeredBy: 'Bob' },
  });
  const since = instructingSince([
    remark('Remi', { ts: '1.000001' }),
    ask('Alice', { ts: '2.000001' }),
    answered,
    ask('Alice', { ts: '3.000001' }),
    ask('Undoer', { ts: 'undo x' }),
  ]);
  expect([...since]).toEqual([
    ['Alice', 2.000001],
    ['Bob', 2.000001],
    ['Undoer', 3.000001],
  ]);
});
