import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../src/store/port/store.ts';
import { Keys, shardOf, threadOf } from '../../src/store/record/keys.ts';
import type { PolicySnapshot } from '../../src/store/record/request-record.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { approve, ask, attempt, found, MINUTE_MS, outcome, suspendTurn, takeTurn } from './support.ts';

const Hash = z.record(z.string(), z.string());
const ThreadFixture = z.object({
  thread: Hash,
  log: z.array(z.string()),
  inbox: z.array(z.string()),
  round: Hash,
});

const requestFixture = Hash.parse(readFixture('request.v1.json'));
const secondFixture = z.object({ fields: Hash, record: z.string() }).parse(readFixture('request.v2.json'));
const thirdFixture = z.object({ fields: Hash, record: z.string() }).parse(readFixture('request.v3.json'));
const fourthFixture = z.object({ fields: Hash, record: z.string() }).parse(readFixture('request.v4.json'));
const delegatedFixture = z
  .object({ fields: Hash, record: z.string() })
  .parse(readFixture('request.v4-delegated.json'));
const thirdThreadFixture = ThreadFixture.parse(readFixture('thread.v3.json'));
const secondThreadFixture = ThreadFixture.parse(readFixture('thread.v2.json'));
const threadFixture = ThreadFixture.parse(readFixture('thread.v1.json'));
const THREAD = 'C1:171.2';
const REQUEST = `${THREAD}~i-1`;

let redis: TestRedis;
let store: Store;
let keys: Keys;

beforeAll(() => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
  keys = new Keys(redis.prefix);
});

afterAll(() => redis.close());

function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8'));
}

async function writeRequest(
  changes: Readonly<Record<string, string | undefined>> = {},
  id = REQUEST,
): Promise<void> {
  const key = keys.request(id);
  await redis.client.del(key, keys.log(THREAD).replace(':log:', ':thread:'));
  const fields = Object.entries({ ...requestFixture, ...changes });
  await redis.client.hset(key, Object.fromEntries(fields.filter(([, value]) => value !== undefined)));
}

async function writeThread(threadId: string, changes: Partial<typeof threadFixture> = {}): Promise<void> {
  const { thread, log, inbox, round } = { ...threadFixture, ...changes };
  const [threadKey = '', logKey = '', inboxKey = '', , roundKey = ''] = keys.forScript(threadId);
  await redis.client.hset(threadKey, thread);
  await redis.client.rpush(logKey, ...log);
  await redis.client.rpush(inboxKey, ...inbox);
  await redis.client.hset(roundKey, round);
}

describe('a request of version 1', () => {
  test('is read as it was written', async () => {
    await writeRequest();
    expect(await store.load(REQUEST)).toEqual({
      outcome: 'found',
      request: {
        id: REQUEST,
        threadId: THREAD,
        state: 'started',
        revision: 6,
        kind: 'approval',
        requester: 'U-rita',
        requesters: ['U-rita'],
        barred: [],
        digest: requestFixture.digest,
        details: { tool: 'refund_order', input: { order: 'A-1', amount: 1200, note: '' } },
        policy: {
          principals: ['U-ann', 'S-finance'],
          resolvers: ['U-ops'],
          quorum: 2,
          vetoes: 1,
          selfApproval: false,
          expiresInMs: 14_400_000,
          remindEveryMs: 3_600_000,
          escalate: { afterMs: 7_200_000, to: ['S-oncall'] },
        },
        execution: { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 },
        principals: ['U-ann', 'S-finance', 'S-oncall'],
        createdAt: 1_760_000_000_000,
        expiresAt: 1_760_014_400_000,
        decidedAt: 1_760_007_300_000,
        settledAt: undefined,
        undo: undefined,
        trace: undefined,
        by: 'U-ben',
        payload: undefined,
        approvals: 2,
        rejections: 0,
        granted: false,
        votes: [
          { who: 'U-ann', decision: 'approve', at: 1_760_003_600_000 },
          { who: 'U-ben', decision: 'approve', at: 1_760_007_300_000 },
        ],
        attempts: 1,
        attempt: 'attempt-1',
        progress: '3 of 7',
        views: [
          {
            id: 'thread',
            place: { channel: 'C1', thread: '171.2' },
            postedAt: { channel: 'C1', ts: '171.3' },
            drawn: 5,
          },
          { id: 'dm-ann', place: { channel: 'D1' }, postedAt: undefined, drawn: 0 },
        ],
      },
    });
  });

  test('goes on from where it was', async () => {
    await writeRequest();
    expect(await store.finish(REQUEST, outcome('attempt-1'))).toEqual({
      outcome: 'finished',
      state: 'succeeded',
    });
  });

  test.each([
    ['v', '0', 'v'],
    ['v', undefined, 'v'],
    ['state', 'maybe', 'state'],
    ['kind', 'wish', 'kind'],
    ['approvals', '-1', 'approvals'],
    ['created', 'yesterday', 'created'],
    ['record', '{"v":1', 'JSON'],
    ['record', '{"v":3}', 'v'],
    ['record', undefined, 'JSON'],
    ['record', requestFixture.record?.replace('"quorum":2', '"quorum":0'), 'policy.quorum'],
    ['record', requestFixture.record?.replace('"idempotent":true,', ''), 'execution.idempotent'],
    ['vote:U-ann', 'perhaps', 'vote:U-ann'],
    ['at:U-ann', undefined, 'at:U-ann'],
    ['view:thread', undefined, 'view:thread'],
    ['stands:thread', '{', 'stands:thread'],
    ['drawn:thread', 'once', 'drawn:thread'],
  ])('whose %s is %j is malformed, and that is said', async (field, value, where) => {
    await writeRequest({ [field]: value });
    const loaded = await store.load(REQUEST);
    expect(loaded).toMatchObject({ outcome: 'malformed' });
    expect(loaded).toHaveProperty('problem', expect.stringContaining(where));
    expect(loaded).toHaveProperty('problem', expect.stringContaining(REQUEST));
    expect(loaded).toHaveProperty('problem', expect.not.stringContaining('\n'));
  });
});

describe('a request of version 2', () => {
  const SECOND = `${THREAD}~i-2`;
  beforeAll(async () => {
    await redis.client.hset(keys.request(SECOND), secondFixture.fields);
    await redis.client.set(keys.record(SECOND), secondFixture.record);
  });

  test('is read as one of version 1 that says the same', async () => {
    await writeRequest();
    const [first, second] = [await store.load(REQUEST), await store.load(SECOND)];
    if (first.outcome !== 'found') throw new Error(`The request is ${first.outcome}`);
    expect(second).toEqual({ outcome: 'found', request: { ...first.request, id: SECOND } });
  });

  test('is malformed without what never changes of it', async () => {
    await redis.client.del(keys.record(SECOND));
    expect(await store.load(SECOND)).toMatchObject({
      outcome: 'malformed',
      problem: expect.stringContaining('record'),
    });
  });

  test('has the fields that are written now', async () => {
    const id = await ask(store, { views: [{ id: 'thread', place: {} }] });
    await store.vote(id, approve('U-ann'));
    await store.start(id, attempt('first'));
    const written = Object.keys(await redis.client.hgetall(keys.request(id)));
    expect(Object.keys(secondFixture.fields)).toEqual(expect.arrayContaining(written));
  });
});

describe('a request of version 3', () => {
  const THIRD = `${THREAD}~i-3`;
  const groups = [
    { any: ['U-ann'], quorum: 1 },
    { any: ['S-finance', 'S-treasury'], quorum: 1 },
  ];

  test('is read as one of version 2 with approver groups and excluded people', async () => {
    await writeRequest();
    await redis.client.hset(keys.request(THIRD), thirdFixture.fields);
    await redis.client.set(keys.record(THIRD), thirdFixture.record);
    const [first, third] = [await store.load(REQUEST), await store.load(THIRD)];
    if (first.outcome !== 'found') throw new Error(`The request is ${first.outcome}`);
    const { policy, votes, ...same } = first.request;
    expect(third).toEqual({
      outcome: 'found',
      request: {
        ...{ ...same, id: THIRD },
        policy: { ...policy, groups, excluded: ['U-max', 'S-interns'] },
        votes: [
          { ...votes[0], groups: [1] },
          { ...votes[1], groups: [1, 2] },
        ],
      },
    });
  });

  test('is written only where there are groups or excluded people', async () => {
    const versionOf = async (policy: Partial<PolicySnapshot>) =>
      redis.client.hget(keys.request(await ask(store, { policy })), 'v');
    expect(await versionOf({})).toBe('2');
    expect(await versionOf({ quorum: 2, groups })).toBe('3');
    expect(await versionOf({ excluded: ['U-max'] })).toBe('3');
  });

  test('is read as it was asked, and its groups must add up to the quorum', async () => {
    const policy = { quorum: 2, groups, excluded: ['U-max'] };
    expect((await found(store, await ask(store, { policy }))).policy).toMatchObject(policy);
    await expect(ask(store, { policy: { ...policy, quorum: 1 } })).rejects.toThrow('invalid-request');
  });
});

describe('a request of version 4', () => {
  const FOURTH = `${THREAD}~i-4`;

  test('has paused while it ran, and is else read like one of version 3', async () => {
    await redis.client.hset(keys.request(FOURTH), fourthFixture.fields);
    await redis.client.set(keys.record(FOURTH), fourthFixture.record);
    expect(await found(store, FOURTH)).toMatchObject({
      state: 'paused',
      settledAt: 1_760_007_301_000,
      payload: '{"paused":"question","server":"bookings","asked":["U-rita"]}',
      policy: { excluded: ['U-max', 'S-interns'] },
    });
  });

  test('is written when an action pauses, with a thread of version 3 until its turn ends', async () => {
    const id = await ask(store);
    await store.vote(id, approve('U-ann'));
    await store.start(id, attempt('first'));
    const threadId = threadOf(id) ?? '';
    const versions = async () => [
      await redis.client.hget(keys.request(id), 'v'),
      await redis.client.hget(keys.thread(threadId), 'v'),
    ];
    expect(await versions()).toEqual(['2', '2']);
    await store.finish(id, outcome('first', { state: 'paused' }));
    expect(await versions()).toEqual(['4', '3']);
    const turn = await takeTurn(store, threadId);
    expect(turn.settled).toMatchObject([{ requestId: id, state: 'paused' }]);
    await suspendTurn(store, turn);
    expect(await versions()).toEqual(['4', '2']);
  });
});

describe('a thread of version 3', () => {
  test('is read with the action in its round that paused', async () => {
    await writeThread('C1:171.22', thirdThreadFixture);
    const { settled } = await takeTurn(store, 'C1:171.22');
    expect(settled).toMatchObject([{ requestId: 'C1:171.22~pause-2', state: 'paused', by: 'U-ann' }]);
  });
});

describe('a request of version 4 without a pause', () => {
  const DELEGATED = `${THREAD}~i-5`;

  test('is read as one of version 2 whose approvers may delegate', async () => {
    await writeRequest();
    await redis.client.hset(keys.request(DELEGATED), delegatedFixture.fields);
    await redis.client.set(keys.record(DELEGATED), delegatedFixture.record);
    const [first, fourth] = [await store.load(REQUEST), await store.load(DELEGATED)];
    if (first.outcome !== 'found') throw new Error(`The request is ${first.outcome}`);
    const { policy, votes, ...same } = first.request;
    expect(fourth).toEqual({
      outcome: 'found',
      request: {
        ...{ ...same, id: DELEGATED },
        policy: { ...policy, delegation: true },
        votes: [votes[0], { ...votes[1], standsFor: 'U-fin' }],
      },
    });
  });

  test('is written only where approvers may delegate, and is read as it was asked', async () => {
    const requestId = await ask(store, { policy: { delegation: true } });
    expect(await redis.client.hget(keys.request(requestId), 'v')).toBe('4');
    expect((await found(store, requestId)).policy).toMatchObject({ delegation: true });
  });
});

describe('a thread of version 2', () => {
  test('is read as it was written', async () => {
    await writeThread('C1:171.21', secondThreadFixture);
    const taken = await store.claimTurn('C1:171.21', MINUTE_MS);
    if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}`);
    expect(taken.turn.messages).toEqual(secondThreadFixture.log.map((row) => JSON.parse(row)));
  });
});

describe('a thread of version 1', () => {
  test('is read as it was written', async () => {
    await writeThread('C1:171.20');
    const taken = await store.claimTurn('C1:171.20', MINUTE_MS);
    if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}`);
    const { messages, inbox, settled } = taken.turn;
    expect(await redis.client.hget(keys.forScript('C1:171.20')[0] ?? '', 'v')).toBe('2');
    expect(messages).toEqual(threadFixture.log.map((row) => JSON.parse(row)));
    expect(inbox).toEqual([{ id: 'C1:171.9', body: { text: 'and A-2', who: 'U-rita' } }]);
    expect(settled).toEqual([
      { requestId: 'C1:171.20~i-1', state: 'succeeded', by: 'U-ben', payload: '{"refund":"R-1"}' },
      { requestId: 'C1:171.20~i-2', state: 'rejected', by: 'U-ann', payload: 'not\ntoday' },
    ]);
  });

  test('is of version 2 once an outcome of this version is in it', async () => {
    const id = await ask(store);
    const key = keys.forScript(threadOf(id) ?? '')[0] ?? '';
    await store.vote(id, approve('U-ann'));
    await store.start(id, attempt('first'));
    await redis.client.hset(key, 'v', '1');
    await store.finish(id, outcome('first'));
    expect(await redis.client.hget(key, 'v')).toBe('2');
  });

  test.each<[string, Partial<typeof threadFixture>, string]>([
    ['of another version', { thread: { v: '0' } }, 'v'],
    ['with a message of another version', { log: ['{"v":3,"role":"user","content":[{"text":""}]}'] }, 'v'],
    ['with half a message', { log: [...threadFixture.log, '{"v":1,"role":'] }, 'JSON'],
    ['with an inbox item that has no id', { inbox: ['{"body":{}}'] }, 'id'],
    ['with a request that ended in no way we know', { round: { 'i-1': 'lost\nU-ann\n' } }, 'state'],
  ])('%s is set aside, and that is said', async (name, changes, where) => {
    const threadId = `T-${shardOf(name)}-${name.length}`;
    await writeThread(threadId, changes);
    const taken = await store.claimTurn(threadId, MINUTE_MS);
    expect(taken).toMatchObject({ outcome: 'quarantined' });
    expect(taken).toHaveProperty('reason', expect.stringContaining(where));
    expect(taken).toHaveProperty('reason', expect.not.stringContaining('\n'));
  });
});
