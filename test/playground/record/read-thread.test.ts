import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../../src/agent/messages.ts';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { NewRequest } from '../../../src/store/port/request-record.ts';
import { tamper, withField } from '../../store/audit/support.ts';
import {
  approve,
  ask,
  askAndLose,
  beginTurn,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  reject,
  suspendTurn,
  takeTurn,
  withdrawal,
} from '../../store/support.ts';
import { callOf, dumpOf, readFound, readOnly, useRecord } from './support.ts';

const record = useRecord();
const threadIdOf = (requestId: string): string => threadOf(requestId) ?? '';

/** Another thread whose rows go into the same chain. */
function neighbourOf(threadId: string): string {
  for (;;) {
    const other = newThreadId();
    if (other !== threadId) return other;
  }
}

/** A request whose id, taken for a thread's, leads to the shard of its thread. */
function requestInOwnChain(threadId: string): NewRequest {
  for (;;) {
    const request = newRequest(threadId);
    if (request.id !== threadId) return request;
  }
}

describe('the requests of a thread', () => {
  test('a pending approval is shown with its call, its first vote and its timers', async () => {
    const bench = record();
    const escalate = { afterMs: 20 * MINUTE_MS, to: ['S-oncall'] };
    const id = await ask(bench.store, {
      ...callOf('deploy_service', { service: 'shop', version: 7 }),
      policy: { quorum: 2, remindEveryMs: 30 * MINUTE_MS, escalate },
      execution: { idempotent: true },
      views: [{ id: 'thread', place: { channel: 'C1', threadTs: '1.2' } }],
    });
    await bench.store.vote(id, approve('U-ann'));

    const { state, requests, now } = await readFound(bench, threadIdOf(id));
    expect(state).toBe('waiting');
    const createdAt = requests[0]?.createdAt ?? 0;
    expect(requests).toEqual([
      {
        id,
        kind: 'approval',
        state: 'pending',
        revision: 2,
        tool: 'deploy_service',
        input: { service: 'shop', version: 7 },
        requester: 'U-rita',
        digest: 'digest-1',
        principals: ['U-ann', 'U-ben'],
        quorum: 2,
        votes: [{ who: 'U-ann', decision: 'approve', at: expect.any(Number) }],
        createdAt,
        expiresAt: createdAt + 60 * MINUTE_MS,
        attempts: 0,
        isIdempotent: true,
        timers: [
          { kind: 'escalate', at: createdAt + 20 * MINUTE_MS },
          { kind: 'remind', at: createdAt + 30 * MINUTE_MS },
          { kind: 'expire', at: createdAt + 60 * MINUTE_MS },
        ],
        views: [{ id: 'thread', place: { channel: 'C1', threadTs: '1.2' }, drawn: 0 }],
      },
    ]);
    expect(now).toBeGreaterThanOrEqual(requests[0]?.votes[0]?.at ?? Number.POSITIVE_INFINITY);
  });

  test('an expired request has an end time, no decider, and only its purge timer', async () => {
    const bench = record();
    const id = await ask(bench.store, { policy: { expiresInMs: 0, remindEveryMs: MINUTE_MS } });
    await bench.store.end(id, { state: 'expired' });
    const request = await readOnly(bench, threadIdOf(id));
    expect(request).toMatchObject({ state: 'expired', settledAt: expect.any(Number) });
    expect(request).not.toHaveProperty('by');
    expect(request.timers.map(({ kind }) => kind)).toEqual(['purge']);
  });

  test('a rejected request names the person and the reason', async () => {
    const bench = record();
    const id = await ask(bench.store);
    await bench.store.vote(id, reject('U-ben', { reason: 'too much' }));
    expect(await readOnly(bench, threadIdOf(id))).toMatchObject({
      state: 'rejected',
      by: 'U-ben',
      payload: 'too much',
      votes: [{ who: 'U-ben', decision: 'reject' }],
    });
  });

  test('one whose worker fell silent is unknown after its only try, due until people are asked, and the thread still waits', async () => {
    const bench = record();
    const id = await askAndLose(bench.store);
    expect(await readFound(bench, threadIdOf(id))).toMatchObject({
      state: 'waiting',
      requests: [{ state: 'unknown', attempts: 1, isIdempotent: false, timers: [{ kind: 'recover' }] }],
    });
  });

  test('those of earlier turns are shown as well, oldest first', async () => {
    const bench = record();
    const threadId = newThreadId();
    const first = newRequest(threadId, callOf('refund_order', { amount: 1 }), 'zz');
    const second = newRequest(threadId, callOf('refund_order', { amount: 2 }), 'aa');
    await suspendTurn(bench.store, await beginTurn(bench.store, threadId), { requests: [first] });
    await bench.store.end(first.id, withdrawal('U-rita', 'changed my mind'));
    await suspendTurn(bench.store, await takeTurn(bench.store, threadId), { requests: [second] });
    const { requests } = await readFound(bench, threadId);
    expect(requests.map(({ state, input }) => ({ state, input }))).toEqual([
      { state: 'withdrawn', input: { amount: 1 } },
      { state: 'pending', input: { amount: 2 } },
    ]);
  });

  test('one that waits is found although the rows that name it were exported and trimmed', async () => {
    const bench = record();
    const id = await ask(bench.store);
    const [row] = (await readFound(bench, threadIdOf(id))).audit;
    await bench.store.trimAudit({ seq: row?.seq ?? -1, hash: row?.hash ?? '' });
    expect(await readFound(bench, threadIdOf(id))).toMatchObject({ audit: [], requests: [{ id }] });
  });

  test('a call that cannot be read hides nothing else of its request', async () => {
    const bench = record();
    const id = await ask(bench.store, { details: { other: true } });
    expect(await readOnly(bench, threadIdOf(id))).toMatchObject({ id, tool: 'unknown tool', input: null });
  });
});

describe('the state of a thread', () => {
  test('a live turn holds a lease', async () => {
    const bench = record();
    const threadId = newThreadId();
    const { token } = await beginTurn(bench.store, threadId);
    const { state, lease, now, unread } = await readFound(bench, threadId);
    expect({ state, token: lease?.token, unread }).toEqual({ state: 'working', token, unread: 1 });
    expect(lease?.until).toBeGreaterThan(now);
  });

  test('a turn whose time is up holds the thread no more', async () => {
    const bench = record();
    const threadId = newThreadId();
    const { token } = await beginTurn(bench.store, threadId, 0);
    expect(await readFound(bench, threadId)).toMatchObject({ state: 'idle', lease: { token }, unread: 1 });
  });

  test('the data that a model keeps for itself is not shown', async () => {
    const bench = record();
    const threadId = newThreadId();
    const turn = await beginTurn(bench.store, threadId);
    const provider = { origin: 'responses api.openai.com/v1 m', data: { items: [] } };
    const answer = { v: 2, role: 'model', content: [{ text: 'Hi.' }] };
    await suspendTurn(bench.store, turn, { messages: [parseMessage({ ...answer, provider })] });
    expect((await readFound(bench, threadId)).messages).toEqual([answer]);
  });

  test("an answered thread is idle, and the model's messages are shown unchanged", async () => {
    const bench = record();
    const threadId = newThreadId();
    const turn = await beginTurn(bench.store, threadId);
    await suspendTurn(bench.store, turn, { messages: [message('hello'), message('bye')] });
    const shown = await readFound(bench, threadId);
    expect(shown).toMatchObject({ state: 'idle', unread: 0, requests: [] });
    expect(shown).not.toHaveProperty('lease');
    expect(shown.messages).toEqual([message('hello'), message('bye')]);
  });

  test('a quarantined thread shows the reason and the unreadable message', async () => {
    const bench = record();
    const threadId = newThreadId();
    await bench.store.enqueue(threadId, { id: 'a', body: {} });
    await bench.redis.client.rpush(bench.keys.log(threadId), 'not json');
    await bench.store.claimTurn(threadId, MINUTE_MS);
    expect(await readFound(bench, threadId)).toMatchObject({
      state: 'quarantined',
      reason: expect.stringContaining('cannot be read'),
      messages: [{ role: 'unreadable', text: 'not json' }],
      audit: [{ event: 'quarantined', subject: threadId }],
    });
  });

  test.each(['C1:1.2', 'no thread at all', ''])('nothing is held of %j', async (threadId) => {
    expect(await record().reader.read(threadId)).toBeUndefined();
  });

  test("a request's id is the id of no thread, also where its rows are in the chain that is read", async () => {
    const { store, reader } = record();
    const threadId = newThreadId();
    const request = requestInOwnChain(threadId);
    await suspendTurn(store, await beginTurn(store, threadId), { requests: [request] });
    expect(await reader.read(request.id)).toBeUndefined();
  });
});

describe('the audit chain of a thread', () => {
  test('shows the rows of this thread alone, each with the hash that it is chained to, and checks the whole chain', async () => {
    const bench = record();
    const id = await ask(bench.store);
    const neighbour = neighbourOf(threadIdOf(id));
    const others = [newRequest(neighbour)];
    await suspendTurn(bench.store, await beginTurn(bench.store, neighbour), { requests: others });
    await bench.store.vote(id, approve('U-ann'));

    const mine = await readFound(bench, threadIdOf(id));
    const [foreign] = (await readFound(bench, neighbour)).audit;
    expect(mine.audit.map(({ seq, event, subject }) => ({ seq, event, subject }))).toEqual([
      { seq: 1, event: 'asked', subject: id },
      { seq: 3, event: 'voted', subject: id },
      { seq: 4, event: 'approved', subject: id },
    ]);
    const [asked, voted, approved] = mine.audit;
    expect([asked?.previousHash, foreign?.previousHash, voted?.previousHash, approved?.previousHash]).toEqual(
      ['', asked?.hash, foreign?.hash, voted?.hash],
    );
    expect(voted?.detail).toBe('approve U-ann 1 of 1');
    expect(mine.chain).toEqual({ rows: 4, problems: [] });
  });

  test('a changed row is reported', async () => {
    const bench = record();
    const id = await ask(bench.store);
    await bench.store.vote(id, approve('U-ann'));
    await tamper(bench, (entries) =>
      entries.map((entry, index) =>
        index === 1 ? { ...entry, fields: withField(entry.fields, 'd', 'approve U-eve 1 of 1') } : entry,
      ),
    );
    expect((await readFound(bench, threadIdOf(id))).chain).toEqual({
      rows: 3,
      problems: ['row 2 is not what was written'],
    });
  });

  test('removed rows are reported', async () => {
    const bench = record();
    const id = await ask(bench.store);
    await bench.store.vote(id, approve('U-ann'));
    await tamper(bench, (entries) => entries.slice(0, -1));
    expect((await readFound(bench, threadIdOf(id))).chain.problems).toEqual([
      'the log ends at row 2, but 3 were written',
    ]);
  });

  test('exported and trimmed rows are not reported as missing', async () => {
    const bench = record();
    const id = await ask(bench.store);
    const [asked] = (await readFound(bench, threadIdOf(id))).audit;
    await bench.store.vote(id, approve('U-ann'));
    await bench.store.trimAudit({ seq: 1, hash: asked?.hash ?? '' });
    const { chain, audit } = await readFound(bench, threadIdOf(id));
    expect({ chain, before: audit[0]?.previousHash }).toEqual({
      chain: { rows: 2, problems: [] },
      before: asked?.hash,
    });
  });
});

describe('the reader', () => {
  test('changes nothing, also where a request cannot be read', async () => {
    const bench = record();
    const threadId = newThreadId();
    const [good, bad] = [newRequest(threadId), newRequest(threadId)];
    await suspendTurn(bench.store, await beginTurn(bench.store, threadId), { requests: [good, bad] });
    await bench.redis.client.hset(bench.keys.ask(bad.id), 'state', 'nonsense');
    const before = await dumpOf(bench);
    expect(await readOnly(bench, threadId)).toMatchObject({ id: good.id });
    expect((await bench.reader.allRequests()).map(({ id }) => id)).toEqual([good.id]);
    expect(await dumpOf(bench)).toEqual(before);
  });
});
