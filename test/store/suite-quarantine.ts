import { describe, expect, test } from 'vitest';
import { Keys, shardOf, threadOf } from '../../src/store/keys.ts';
import type { Subject } from './suite.ts';
import {
  approve,
  ask,
  beginTurn,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  stateOf,
  suspendTurn,
} from './support.ts';

/** A record that cannot be read stops its own thread and no other. */
export function describeQuarantine(subject: () => Subject): void {
  const neighbourOf = (threadId: string): string => {
    for (;;) {
      const other = newThreadId();
      if (shardOf(other) === shardOf(threadId)) return other;
    }
  };

  describe('a record that cannot be read', () => {
    test('sets its thread aside with a reason that says where, and keeps what is there', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await suspendTurn(store, await beginTurn(store, threadId), { messages: [message('fine')] });
      const log = new Keys(prefix).log(threadId);
      await client.rpush(log, '{"v":1,"role":"user","content":[{"txt":"broken"}]}');
      await store.put(threadId, { id: 'next', body: {} });
      const taken = await store.take(threadId, MINUTE_MS);
      expect(taken).toMatchObject({ outcome: 'quarantined' });
      expect(taken).toHaveProperty('reason', expect.stringMatching(/cannot be read.*content/));
      expect(await store.take(threadId, MINUTE_MS)).toEqual(taken);
      expect(await client.llen(log)).toBe(2);
      expect(await client.llen(log.replace(':log:', ':inbox:'))).toBe(1);
    });

    test('harms no other thread of its shard', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      const other = neighbourOf(threadId);
      await store.put(threadId, { id: 'a', body: {} });
      await client.rpush(new Keys(prefix).log(threadId), 'not json');
      await store.take(threadId, MINUTE_MS);
      const turn = await beginTurn(store, other);
      const request = newRequest(other);
      await suspendTurn(store, turn, { requests: [request] });
      await store.vote(request.id, approve('U-ann'));
      expect(await stateOf(store, request.id)).toBe('approved');
    });

    test('is not due again for what is said in its thread afterwards', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await store.put(threadId, { id: 'a', body: {} });
      await client.rpush(new Keys(prefix).log(threadId), 'not json');
      await store.take(threadId, MINUTE_MS);
      await store.put(threadId, { id: 'b', body: {} });
      await store.take(threadId, MINUTE_MS);
      const due = await store.due(shardOf(threadId), { overdueMs: 0, limit: 1000 });
      expect(due.threads).not.toContain(threadId);
    });

    test.each(['2', 'new'])('is also a thread of version %s', async (version) => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await store.put(threadId, { id: 'a', body: {} });
      await client.hset(new Keys(prefix).forScript(threadId)[0] ?? '', 'v', version);
      expect(await store.take(threadId, MINUTE_MS)).toMatchObject({ outcome: 'quarantined' });
    });
  });

  describe('a request that cannot be read', () => {
    test('is called malformed, with the place', async () => {
      const { store, client, prefix } = subject();
      const id = await ask(store);
      await client.hset(new Keys(prefix).request(id), 'record', '{"v":1,"details":{}}');
      const loaded = await store.load(id);
      expect(loaded).toMatchObject({ outcome: 'malformed' });
      expect(loaded).toHaveProperty('problem', expect.stringContaining('policy'));
      expect(await store.take(threadOf(id) ?? '', MINUTE_MS)).toMatchObject({ outcome: 'quarantined' });
    });

    test.each(['quorum', 'vetoes', 'expires', 'approvals', 'keep', 'principals'])(
      'because its %s is gone is left as it is by every verb',
      async (field) => {
        const { store, client, prefix } = subject();
        const id = await ask(store);
        const key = new Keys(prefix).request(id);
        await client.hdel(key, field);
        const before = await client.hgetall(key);
        expect(await store.vote(id, approve('U-ann'))).toEqual({ outcome: 'malformed' });
        expect(await store.expire(id)).toEqual({ outcome: 'malformed' });
        expect(await store.supersede(id, 'changed')).toEqual({ outcome: 'malformed' });
        expect(await client.hgetall(key)).toEqual(before);
        const taken = await store.take(threadOf(id) ?? '', MINUTE_MS);
        expect(taken).toHaveProperty('reason', expect.stringContaining(field));
      },
    );
  });

  test('an outbox row that cannot be read does not hold up the others', async () => {
    const { store, client, prefix } = subject();
    const threadId = newThreadId();
    const other = neighbourOf(threadId);
    await store.putOutbox(threadId, { id: `bad-${threadId}`, body: {} });
    await store.putOutbox(other, { id: `good-${threadId}`, body: { text: 'hello' } });
    const rows = `${prefix}{${shardOf(threadId)}}:rows`;
    await client.hset(rows, `bad-${threadId}`, 'not json');
    const items = await store.takeOutbox(shardOf(threadId), { leaseMs: MINUTE_MS, limit: 1000 });
    expect(items).toContainEqual(expect.objectContaining({ rowId: `good-${threadId}` }));
    expect(items).not.toContainEqual(expect.objectContaining({ rowId: `bad-${threadId}` }));
    expect(await client.hget(rows, `bad-${threadId}`)).toBe('not json');
  });
}
