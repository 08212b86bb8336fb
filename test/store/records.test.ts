import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Keys } from '../../src/store/port/keys.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { approve, ask, attempt, found, MINUTE_MS, outcome } from './support.ts';

const Hash = z.record(z.string(), z.string());
const ThreadFixture = z.object({
  thread: Hash,
  log: z.array(z.string()),
  inbox: z.array(z.string()),
  round: Hash,
});

const requestFixture = z
  .object({ ask: Hash, run: Hash, record: z.string() })
  .parse(readFixture('request.v1.json'));
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
  await redis.client.del(keys.ask(id), keys.run(id), keys.record(id), keys.thread(THREAD));
  const record = 'record' in changes ? changes.record : requestFixture.record;
  const changed = (fields: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const now = name in changes ? changes[name] : value;
        return now === undefined ? [] : [[name, now]];
      }),
    );
  await redis.client.hset(keys.ask(id), changed(requestFixture.ask));
  await redis.client.hset(keys.run(id), changed(requestFixture.run));
  if (record !== undefined) await redis.client.set(keys.record(id), record);
}

async function writeThread(threadId: string, changes: Partial<typeof threadFixture> = {}): Promise<void> {
  const { thread, log, inbox, round } = { ...threadFixture, ...changes };
  const [threadKey = '', logKey = '', inboxKey = '', , roundKey = ''] = keys.forScript(threadId);
  await redis.client.hset(threadKey, thread);
  await redis.client.rpush(logKey, ...log);
  await redis.client.rpush(inboxKey, ...inbox);
  await redis.client.hset(roundKey, round);
}

const groups = [
  { any: ['U-ann'], quorum: 1 },
  { any: ['S-finance', 'S-treasury'], quorum: 1 },
];

describe('a stored request', () => {
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
        digest: requestFixture.ask.digest,
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
          groups,
          excluded: ['U-max', 'S-interns'],
          delegation: true,
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
          { who: 'U-ann', decision: 'approve', at: 1_760_003_600_000, groups: [1] },
          {
            who: 'U-ben',
            decision: 'approve',
            at: 1_760_007_300_000,
            groups: [1, 2],
            standsFor: 'U-fin',
            reason: 'within the budget',
          },
        ],
        attempts: 1,
        attempt: 'attempt-1',
        startedAt: 1_760_007_300_500,
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
    ['record', '[]', 'record'],
    ['record', undefined, 'record'],
    ['quorum', '0', 'policy: quorum'],
    ['max_attempts', 'x', 'execution: maxAttempts'],
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

  test('has the fields that are written now', async () => {
    const policy = { quorum: 1, groups: groups.slice(0, 1), excluded: ['U-max'], delegation: true as const };
    const id = await ask(store, { policy, views: [{ id: 'thread', place: {} }] });
    await store.vote(id, { ...approve('U-ann'), groups: [1] });
    await store.start(id, { ...attempt('first'), groups: { 'U-ann': [1] } });
    const asked = Object.keys(await redis.client.hgetall(keys.ask(id)));
    const called = Object.keys(await redis.client.hgetall(keys.run(id)));
    expect(called).toContain('first_start');
    expect(Object.keys(requestFixture.ask)).toEqual(expect.arrayContaining(asked));
    expect(Object.keys(requestFixture.run)).toEqual(expect.arrayContaining(called));
  });

  test('is read as it was asked, and its groups must add up to the quorum', async () => {
    const policy = { quorum: 2, groups, excluded: ['U-max'], delegation: true as const };
    expect((await found(store, await ask(store, { policy }))).policy).toMatchObject(policy);
    await expect(ask(store, { policy: { ...policy, quorum: 1 } })).rejects.toThrow('invalid-request');
  });
});

describe('a stored thread', () => {
  test('is read as it was written', async () => {
    await writeThread('C1:171.20');
    const taken = await store.claimTurn('C1:171.20', MINUTE_MS);
    if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}`);
    const { messages, inbox, settled } = taken.turn;
    expect(messages).toEqual(threadFixture.log.map((row) => JSON.parse(row)));
    expect(inbox).toEqual([{ id: 'C1:171.9', body: { text: 'and A-2' } }]);
    const byId = [...settled].sort((a, b) => (a.requestId < b.requestId ? -1 : 1));
    expect(byId).toMatchObject([
      { requestId: 'C1:171.20~pause-2', state: 'paused', by: 'U-ann' },
      { requestId: 'C1:171.20~pause-3', state: 'rejected', by: 'U-ann', payload: 'not\ntoday' },
    ]);
  });

  test.each<[string, Partial<typeof threadFixture>, string]>([
    ['of another version', { thread: { v: '0' } }, 'v'],
    ['with a message of another version', { log: ['{"v":3,"role":"user","content":[{"text":""}]}'] }, 'v'],
    ['with half a message', { log: [...threadFixture.log, '{"v":1,"role":'] }, 'JSON'],
    ['with an inbox item that has no id', { inbox: ['{"body":{}}'] }, 'id'],
    ['with a request that ended in no way we know', { round: { 'i-1': 'lost\nU-ann\n' } }, 'state'],
  ])('%s is set aside, and that is said', async (name, changes, where) => {
    const threadId = `T-${name.length}`;
    await writeThread(threadId, changes);
    const taken = await store.claimTurn(threadId, MINUTE_MS);
    expect(taken).toMatchObject({ outcome: 'quarantined' });
    expect(taken).toHaveProperty('reason', expect.stringContaining(where));
    expect(taken).toHaveProperty('reason', expect.not.stringContaining('\n'));
  });
});
