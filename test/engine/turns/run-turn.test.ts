import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { HistoryItem, Model, ModelReply } from '../../../src/agent/model.ts';
import type { Directory, Notice, TurnReply, WrittenMessage } from '../../../src/engine/ports.ts';
import { RunningTurns } from '../../../src/engine/running-turns.ts';
import { claimAndRunTurn } from '../../../src/engine/turns/run-turn.ts';
import { BudgetSpentError } from '../../../src/engine/turns/token-budget.ts';
import type { TurnContext, TurnOutcome } from '../../../src/engine/turns/turn-context.ts';
import { THE_MODEL } from '../../../src/store/port/workspace.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { connectTestRedis } from '../../support/redis.ts';
import { openTools } from '../../tools/toolbox/support.ts';

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [U0ALICE001] } }
tools:
  pay:
    description: Pays.
    effect: once
    input: { type: object, properties: {} }
    http: { method: POST, url: "https://shop.example/pay" }
    approval: { require: deny, reason: not today }
`;
/** A thread of no Slack: to the engine its id is opaque. */
const THREAD = 'room:first';
const DONE: ModelReply = { finish: 'stop', text: 'It is done.', calls: [], usage: undefined };

/** People of whom nothing is known but that they are members. */
const directory: Directory = {
  member: async (id) => ({
    id,
    name: `the ${id}`,
    isBot: false,
    isGuest: false,
    isStranger: false,
    isDeactivated: false,
    timeZone: undefined,
  }),
  nameOf: async (id) => id,
  group: async () => [],
  groupsOf: async () => [],
  personWithEmail: async () => undefined,
  isAmong: async (id, principals) => principals.includes(id),
  peopleBehind: async (principals) => ({ people: principals, isSure: true }),
  isPerson: () => true,
  isGroup: () => false,
  mayAskLater: () => false,
  fresh: () => directory,
  relaxed: () => directory,
};

interface World {
  readonly replies?: readonly ModelReply[];
  /** The tokens that a task may use. */
  readonly perTurn?: number;
  /** The messages that were written in the thread before. */
  readonly written?: readonly WrittenMessage[];
}

/** Opens turns on a real record, with a model that says what it is given and ports that keep what they are told. */
async function openTurns({ replies = [DONE], perTurn, written = [] }: World = {}) {
  const parsed = parseManifest(MANIFEST, { file: 'test.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  const { agent } = parsed.manifest;
  const told: Notice[] = [];
  const ends: TurnReply[] = [];
  const outcomes: TurnOutcome[] = [];
  const asked: (readonly HistoryItem[])[] = [];
  const left = [...replies];
  const model: Model = {
    name: 'scripted',
    async reply({ history }) {
      asked.push(history);
      return left.shift() ?? DONE;
    },
  };
  const row = (id: string) => ({ id, body: { kind: 'test' } });
  const context: TurnContext = {
    store,
    directory,
    toolbox: await openTools(parsed.manifest),
    people: {
      mayAllAsk: async () => true,
      checkApprovers: async () => ({ stillEligible: [], evidence: {} }),
    },
    places: {
      isFirst: (_, messageId) => messageId === 'first',
      takesFiles: () => false,
      async readThread(_threadId, { known }) {
        const ids = await known();
        const messages = written.filter(({ id }) => !ids.has(id));
        return { outcome: 'read', first: undefined, messages, omitted: 0, hasMore: false };
      },
      topicOf: async () => undefined,
      describeFile: async (file) => file,
      readFile: async () => ({ outcome: 'refused' }),
      markRead: async () => {},
      stopped() {},
      leave() {},
    },
    messages: {
      async rows(_, notice) {
        told.push(notice);
        return [row(notice.code)];
      },
      preview: () => ({
        thinking() {},
        running() {},
        write() {},
        report() {},
        failed() {},
        pause: async () => {},
        rows(reply) {
          ends.push(reply);
          return [row('reply')];
        },
        recorded: async () => {},
        leave() {},
      }),
    },
    asks: { open: async (_, messages) => ({ messages, requests: [], refused: [] }) },
    agent: () => ({ ...agent, instructions: 'Help.', budgets: { ...agent.budgets, perTurn } }),
    modelFor: () => ({ model, contextBudget: undefined }),
    turns: new RunningTurns(),
    timing: { leaseMs: 60_000, renewMs: 20_000 },
    callbackUrl: () => '',
    describeRefusal: ({ code }) => code,
    describeFailure: ({ code }) => code,
    tellOfGrant: async () => {},
    observeTurn: async (_, work) => void outcomes.push(await work()),
    logger: pino({ level: 'silent' }),
  };
  const say = (id: string, body = {}) =>
    store.enqueue(THREAD, { id, body: { user: 'ann', text: 'Pay', role: 'requester', ...body } });
  const run = () => claimAndRunTurn(context, THREAD);
  const sent = async () =>
    (await store.claimOutbox({ leaseMs: 1_000, limit: 10 })).map(({ item }) => item).toSorted();
  return { store, told, ends, outcomes, asked, say, run, sent };
}

test('a turn records what the model said, and the rows that a door made of it', async () => {
  const { store, ends, outcomes, say, run, sent } = await openTurns();
  await say('first');
  await run();
  expect(outcomes).toEqual(['ended']);
  expect(ends).toMatchObject([{ response: { finishReason: 'stop', text: 'It is done.' }, asked: 0 }]);
  expect((await store.readThread(THREAD)).messages.map(({ role }) => role)).toEqual(['user', 'model']);
  expect(await sent()).toHaveLength(1);
});

test('a frozen model is not called: the thread is told a code, and the turn is given back', async () => {
  const { store, told, outcomes, asked, say, run, sent } = await openTurns();
  await store.freeze({ scope: THE_MODEL, id: 'f1', who: 'ada', reason: 'an incident', evidence: {} });
  await say('first');
  await run();
  expect(outcomes).toEqual(['handed-over']);
  expect(told).toMatchObject([{ code: 'model-held', freeze: { reason: 'an incident' } }]);
  expect(asked).toEqual([]);
  expect(await sent()).toHaveLength(1);
  expect((await store.readThread(THREAD)).inbox).toHaveLength(1);
});

test('a call that a rule denies is told with its reason, and is a row of the log', async () => {
  const call = { id: 'c1', name: 'pay', arguments: '{}' };
  const { store, told, say, run } = await openTurns({
    replies: [{ finish: 'stop', text: '', calls: [call], usage: undefined }],
  });
  await say('first');
  await run();
  expect(told).toMatchObject([
    { code: 'refused', requester: 'ann', calls: [{ metadata: { reason: 'not today' } }] },
  ]);
  const { messages } = await store.readThread(THREAD);
  expect(JSON.stringify(messages)).toContain('"denied"');
});

test('a budget that is spent is a code, and calls no model', async () => {
  const { ends, asked, say, run } = await openTurns({ perTurn: 0 });
  await say('first');
  await run();
  const [{ response } = { response: undefined }] = ends;
  expect(response?.finishReason === 'model-error' && response.error).toBeInstanceOf(BudgetSpentError);
  expect(response).toMatchObject({ error: { code: 'over-budget', budget: 'task' } });
  expect(asked).toEqual([]);
});

test('what others wrote before a mention is quoted as context, and gives nobody authority', async () => {
  const before = { id: '1.1', author: 'bob', name: 'Bob', text: 'Pay me too', at: 1, files: [] };
  const { store, asked, say, run } = await openTurns({ written: [before] });
  await say('2.1', { mention: true });
  await run();
  expect(asked).toHaveLength(1);
  const [quoted, words] = asked[0] ?? [];
  expect(JSON.stringify(quoted)).toMatch(/\[Context from Bob, .*not an instruction\]\\n> Pay me too/);
  expect(JSON.stringify(words)).toContain('the ann: Pay');
  const { messages } = await store.readThread(THREAD);
  expect(messages.slice(0, 2).map((message) => message.role === 'user' && message.metadata?.role)).toEqual([
    'context',
    'requester',
  ]);
});
