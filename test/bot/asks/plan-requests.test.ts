import { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/agent/json.ts';
import { MESSAGE_VERSION, type Message, userMessage } from '../../../src/agent/messages.ts';
import { planRequests } from '../../../src/bot/asks/plan/plan-requests.ts';
import { Directory } from '../../../src/bot/slack/directory.ts';
import { PendingLimiter } from '../../../src/engine/pending-limiter.ts';
import { pauseMetadata } from '../../support/pause-metadata.ts';
import { manifestOf, openTools } from '../../tools/toolbox/support.ts';

const THREAD = 'C1:1.2';

interface Setting {
  readonly perThread?: number;
  readonly perPerson?: number;
  /** The person's pending requests. */
  readonly waiting?: number | Error;
  readonly anew?: boolean;
}

/** Plans the calls of one round, each a pair of a tool and its arguments; their refs are c1, c2 and so on. */
async function plan(calls: readonly (readonly [string, JsonValue])[], setting: Setting = {}) {
  const { perThread = 10, perPerson = 25, waiting = 0, anew = false } = setting;
  const requests = calls.map(([name, input], place) => ({ name, ref: `c${place + 1}`, input }));
  const messages: Message[] = [
    userMessage('Go on.', { user: 'U0RITA001', role: 'requester' }),
    {
      v: MESSAGE_VERSION,
      role: 'model',
      content: requests.map((toolRequest) => ({ toolRequest, idempotencyKey: `key-${toolRequest.ref}` })),
    },
    {
      v: MESSAGE_VERSION,
      role: 'tool',
      content: requests.map((toolRequest) => ({
        interrupt: {
          id: `pause-${toolRequest.ref}`,
          toolRequest,
          metadata: pauseMetadata(toolRequest.name, toolRequest.input) ?? {},
        },
      })),
    },
  ];
  const counted: string[] = [];
  const list = async (_name: string, [requester = '']: readonly string[]) => {
    counted.push(requester);
    if (waiting instanceof Error) throw waiting;
    return { requestIds: Array.from({ length: waiting }, String), next: undefined };
  };
  const parts = {
    toolbox: await openTools(manifestOf('  {}\n')),
    directory: new Directory(new WebClient()),
    store: {
      readDocument: async () => undefined,
      list: async () => ({ requestIds: [], next: undefined }),
      load: async () => ({ outcome: 'unknown' as const }),
      readTotals: async () => [],
    },
    agent: () => ({
      instructions: '',
      maxSteps: 1,
      contextBudget: undefined,
      context: 'thread' as const,
      files: undefined,
      channels: new Map(),
      feedback: false,
      plans: undefined,
      limits: { pendingPerThread: perThread, pendingPerPerson: perPerson },
      budgets: { perTurn: undefined, perThread: undefined, perPerson: undefined, perDay: undefined },
      policyChanges: undefined,
      askers: {
        people: [],
        groups: [],
        channels: [],
        guests: false,
        external: false,
        bots: [],
        members: true,
      },
      admins: [],
      cardButtons: 'thread' as const,
      firstDays: 90,
      unfreeze: { approvers: [], quorum: 1 },
    }),
    limiter: new PendingLimiter({ list }),
  };
  const planned = await planRequests(parts, THREAD, messages, { anew });
  const closed = [...planned.refusals, ...planned.joined];
  return {
    asked: planned.requests.map(({ id }) => id.slice(`${THREAD}~pause-`.length)),
    refused: planned.refusals.map(({ toolRequest, metadata }) => [toolRequest.ref, metadata.status]),
    joined: planned.joined.map(({ toolRequest, metadata }) => [toolRequest.ref, metadata.status]),
    reasons: [...new Set(closed.map(({ metadata }) => metadata.reason))],
    counted,
  };
}

const question = (text: string): readonly [string, JsonValue] => [
  'ask_question',
  { question: text, choices: ['Yes', 'No'] },
];
const questions = (count: number) =>
  Array.from({ length: count }, (_, place) => question(`Number ${place}?`));

test('identical calls are asked once, in whatever order their arguments stand, and each other one is told of the first', async () => {
  const turned: readonly [string, JsonValue] = [
    'ask_question',
    { choices: ['Yes', 'No'], question: 'Paint it?' },
  ];
  const { asked, joined, refused, reasons } = await plan([
    question('Paint it?'),
    question('Sell it?'),
    turned,
    question('Paint it?'),
  ]);
  expect(asked).toEqual(['c1', 'c2']);
  expect(joined).toEqual([
    ['c3', 'joined'],
    ['c4', 'joined'],
  ]);
  expect(refused).toEqual([]);
  expect(reasons).toEqual([expect.stringMatching(/^Identical to call c1: .* runs once/)]);
});

test('the same arguments for another tool, or one other argument, are another call', async () => {
  const both = { awaited: 'the parcel', title: 'Parcel', fields: { type: 'object', properties: {} } };
  const calls = [
    ['wait_for_callback', both],
    ['wait_for_callback', { ...both, awaited: 'the letter' }],
    ['request_form', both],
    ['ask_question', { question: 'Paint it?', choices: ['No', 'Yes'] }],
    question('Paint it?'),
  ] as const;
  expect((await plan(calls)).asked).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
});

test('of more calls than may wait in a thread the first are asked, and the model is told how many wait', async () => {
  const { asked, refused, reasons } = await plan(questions(5), { perThread: 3 });
  expect(asked).toEqual(['c1', 'c2', 'c3']);
  expect(refused).toEqual([
    ['c4', 'not-asked'],
    ['c5', 'not-asked'],
  ]);
  expect(reasons).toEqual([expect.stringMatching(/^This thread has 3 requests waiting.*Ask again when/)]);
});

test('as many as may wait are asked, and identical calls take one place', async () => {
  const calls = [question('Number 0?'), ...questions(3)];
  const { asked, refused, joined } = await plan(calls, { perThread: 3 });
  expect({ asked, refused, joined }).toEqual({
    asked: ['c1', 'c3', 'c4'],
    refused: [],
    joined: [['c2', 'joined']],
  });
});

test('a call for which there is no room takes those with it that are identical', async () => {
  const calls = [...questions(2), question('Number 1?')];
  const { asked, refused, joined } = await plan(calls, { perThread: 1 });
  expect({ asked, refused, joined }).toEqual({
    asked: ['c1'],
    refused: [
      ['c2', 'not-asked'],
      ['c3', 'not-asked'],
    ],
    joined: [],
  });
});

test('a call that cannot be asked at all takes no place', async () => {
  const { asked, refused } = await plan([['gone_tool', {}], ...questions(1)], { perThread: 1 });
  expect(asked).toEqual(['c2']);
  expect(refused).toEqual([['c1', 'failed']]);
});

test('what a person has waiting in other threads counts, and beyond their limit nothing is asked', async () => {
  const { asked, refused, reasons, counted } = await plan(questions(3), { perPerson: 25, waiting: 24 });
  expect(counted).toEqual(['U0RITA001']);
  expect(asked).toEqual(['c1']);
  expect(refused.map(([ref]) => ref)).toEqual(['c2', 'c3']);
  expect(reasons).toEqual([expect.stringMatching(/^A requester has 25 requests waiting.*limit is 25/)]);
  expect((await plan(questions(3), { perPerson: 25, waiting: 27 })).asked).toEqual([]);
});

test('what was asked before and is asked anew needs no room', async () => {
  const { asked, refused, counted } = await plan(questions(2), { perThread: 1, waiting: 25, anew: true });
  expect({ asked, refused, counted }).toEqual({ asked: ['c1', 'c2'], refused: [], counted: [] });
});

test('a turn that asks nothing counts nothing', async () => {
  expect((await plan([['gone_tool', {}]])).counted).toEqual([]);
});

test('where the count cannot be read nothing is planned', async () => {
  await expect(plan(questions(1), { waiting: new Error('Redis is gone') })).rejects.toThrow('Redis is gone');
});
