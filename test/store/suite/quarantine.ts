import { describe, expect, test } from 'vitest';
import { Keys, threadOf } from '../../../src/store/port/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { askPlan } from '../guards/plans.ts';
import {
  approve,
  ask,
  attempt,
  beginTurn,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  stateOf,
  suspendTurn,
} from '../support.ts';
import type { Subject } from './suite.ts';

/** A record that cannot be read stops its own thread and no other. */
export function describeQuarantine(subject: () => Subject): void {
  describe('a record that cannot be read', () => {
    test('sets its thread aside with a reason that says where, and keeps what is there', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await suspendTurn(store, await beginTurn(store, threadId), { messages: [message('fine')] });
      const log = new Keys(prefix).log(threadId);
      await client.rpush(log, '{"v":1,"role":"user","content":[{"txt":"broken"}]}');
      await store.enqueue(threadId, { id: 'next', body: {} });
      const taken = await store.claimTurn(threadId, MINUTE_MS);
      expect(taken).toMatchObject({ outcome: 'quarantined' });
      expect(taken).toHaveProperty('reason', expect.stringMatching(/cannot be read.*content/));
      expect(await store.claimTurn(threadId, MINUTE_MS)).toEqual(taken);
      expect(await client.llen(log)).toBe(2);
      expect(await client.llen(log.replace(':log:', ':inbox:'))).toBe(1);
    });

    test('harms no other thread', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      const other = newThreadId();
      await store.enqueue(threadId, { id: 'a', body: {} });
      await client.rpush(new Keys(prefix).log(threadId), 'not json');
      await store.claimTurn(threadId, MINUTE_MS);
      const turn = await beginTurn(store, other);
      const request = newRequest(other);
      await suspendTurn(store, turn, { requests: [request] });
      await store.vote(request.id, approve('U-ann'));
      expect(await stateOf(store, request.id)).toBe('approved');
    });

    test('is not due again for what is said in its thread afterwards', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await store.enqueue(threadId, { id: 'a', body: {} });
      await client.rpush(new Keys(prefix).log(threadId), 'not json');
      await store.claimTurn(threadId, MINUTE_MS);
      await store.enqueue(threadId, { id: 'b', body: {} });
      await store.claimTurn(threadId, MINUTE_MS);
      const due = await store.due({ overdueMs: 0, limit: 1000 });
      expect(due.threads).not.toContain(threadId);
    });

    test('is also a thread of a version that is none', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      await store.enqueue(threadId, { id: 'a', body: {} });
      await client.hset(new Keys(prefix).forScript(threadId)[0] ?? '', 'v', 'new');
      expect(await store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome: 'quarantined' });
    });
  });

  describe('a record of a later version', () => {
    test('is left to the processes that can read it: its thread', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      const key = new Keys(prefix).forScript(threadId)[0] ?? '';
      await store.enqueue(threadId, { id: 'a', body: {} });
      await client.hset(key, 'v', '2');
      await expect(store.claimTurn(threadId, MINUTE_MS)).rejects.toThrow(
        /later version.*2; this one knows 1/,
      );
      await client.hset(key, 'v', '1');
      expect(await store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome: 'claimed' });
    });

    test('is left to the processes that can read it: a request', async () => {
      const { store, client, prefix } = subject();
      const id = await ask(store);
      const key = new Keys(prefix).ask(id);
      await client.hset(key, 'v', '2');
      await expect(store.load(id)).rejects.toThrow(/later version.*2; this one knows 1/);
      await client.hset(key, 'v', '1');
      expect(await store.load(id)).toMatchObject({ outcome: 'found' });
    });
  });

  describe('a request that cannot be read', () => {
    test('is called malformed, with the place', async () => {
      const { store, client, prefix } = subject();
      const id = await ask(store);
      await client.set(new Keys(prefix).record(id), '["details"]');
      const loaded = await store.load(id);
      expect(loaded).toMatchObject({ outcome: 'malformed' });
      expect(loaded).toHaveProperty('problem', expect.stringContaining('record'));
      expect(await store.claimTurn(threadOf(id) ?? '', MINUTE_MS)).toMatchObject({ outcome: 'quarantined' });
    });

    test('because its approver groups are damaged counts nobody', async () => {
      const { store, client, prefix } = subject();
      const groups = [{ any: ['U-ann'], quorum: 1 }];
      const id = await ask(store, { policy: { groups } });
      await client.hset(new Keys(prefix).ask(id), 'groups', 'x:U-ann');
      expect(await store.vote(id, approve('U-ann', { groups: [1] }))).toEqual({ outcome: 'malformed' });
    });

    test.each(['quorum', 'vetoes', 'expires', 'keep', 'principals'])(
      'because its %s is gone is left as it is by every verb',
      async (field) => {
        const { store, client, prefix } = subject();
        const id = await ask(store);
        const key = new Keys(prefix).ask(id);
        await client.hdel(key, field);
        const before = await client.hgetall(key);
        expect(await store.vote(id, approve('U-ann'))).toEqual({ outcome: 'malformed' });
        expect(await store.end(id, { state: 'expired' })).toEqual({ outcome: 'malformed' });
        expect(await store.end(id, { state: 'superseded', reason: 'changed' })).toEqual({
          outcome: 'malformed',
        });
        expect(await client.hgetall(key)).toEqual(before);
        const taken = await store.claimTurn(threadOf(id) ?? '', MINUTE_MS);
        expect(taken).toHaveProperty('reason', expect.stringContaining(field));
      },
    );
  });

  describe('time', () => {
    const dueOf = async (id: string): Promise<string[]> => {
      const { timers, runs } = await subject().store.due({ overdueMs: 0, limit: 1000 });
      const kinds = timers.filter((timer) => timer.id === id).map(({ kind }) => kind);
      return [...kinds, ...runs.filter((run) => run === id)];
    };
    const damage = async (id: string, field: string, value: string): Promise<void> => {
      await subject().client.hset(new Keys(subject().prefix).ask(id), field, value);
    };

    test.each([
      ['expires', 'soon'],
      ['state', 'maybe'],
      ['remind_every', 'often'],
    ])('does not come back to a request whose %s is %j', async (field, value) => {
      const { store } = subject();
      const policy = { expiresInMs: 0, remindEveryMs: 1, escalate: { afterMs: 0, to: ['U-boss'] } };
      const id = await ask(store, { policy });
      await expect.poll(() => dueOf(id)).toHaveLength(3);
      await damage(id, field, value);
      const row = { id: `${id}:row`, body: {} };
      const said = [await store.notify(id, 'remind', { row }), await store.notify(id, 'escalate', { row })];
      expect(said.map(({ outcome }) => outcome)).toContain('malformed');
      expect(await dueOf(id)).toEqual([]);
    });

    test('does not come back to a request that could be counted with but not be shown', async () => {
      const { store } = subject();
      const id = await ask(store, { policy: { expiresInMs: 0 } });
      await subject().client.set(new Keys(subject().prefix).record(id), 'not json');
      expect(await store.load(id)).toMatchObject({ outcome: 'malformed' });
      expect(await dueOf(id)).toEqual([]);
    });

    test('and workers do not come back to an approved action that cannot be read', async () => {
      const { store } = subject();
      const id = await ask(store);
      await store.vote(id, approve('U-ann'));
      expect(await dueOf(id)).toEqual([id]);
      await damage(id, 'quorum', 'some');
      expect(await store.start(id, attempt('first'))).toEqual({ outcome: 'malformed' });
      expect(await dueOf(id)).toEqual([]);
    });

    test('still ends the good requests of a thread that was set aside', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const [bad, good] = [newRequest(threadId), newRequest(threadId, { policy: { expiresInMs: 0 } })];
      await suspendTurn(store, await beginTurn(store, threadId), { requests: [bad, good] });
      await damage(bad.id, 'quorum', 'some');
      expect(await store.vote(bad.id, approve('U-ann'))).toEqual({ outcome: 'malformed' });
      expect(await dueOf(good.id)).toEqual(['expire']);
      expect(await store.end(good.id, { state: 'expired' })).toEqual({ outcome: 'ended' });
    });

    test('is not one that Redis does not give now, and so a plan and its steps are read again', async () => {
      const { store, client, prefix } = subject();
      const { plan, first } = await askPlan(store);
      let reads = 0;
      const failing = new Proxy(client, {
        get: (target, name) =>
          name === 'hgetall'
            ? (key: string) => {
                reads += 1;
                // The request itself takes two; what follows is about its plan.
                return reads > 2 ? Promise.reject(new Error('Redis does not answer')) : target.hgetall(key);
              }
            : Reflect.get(target, name),
      });
      const away = openRedisStore({ client: failing, prefix });
      for (const id of [plan, first]) {
        reads = 0;
        await expect(away.load(id)).rejects.toThrow('Redis does not answer');
        expect(await store.load(id)).toMatchObject({ outcome: 'found' });
      }
      expect((await store.listQuarantined()).map(({ threadId }) => threadId)).not.toContain(threadOf(plan));
    });
  });

  test('an outbox row that cannot be read leaves the outbox, is kept in the audit log once, and holds up no other', async () => {
    const { store, client, prefix } = subject();
    const threadId = newThreadId();
    const other = newThreadId();
    await store.enqueueOutbox(threadId, { id: `bad-${threadId}`, body: {} });
    await store.enqueueOutbox(other, { id: `good-${threadId}`, body: { text: 'hello' } });
    const rows = `{${prefix}}:rows`;
    await client.hset(rows, `bad-${threadId}`, 'not json');
    const items = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
    expect(items).toContainEqual(expect.objectContaining({ rowId: `good-${threadId}` }));
    expect(items).not.toContainEqual(expect.objectContaining({ rowId: `bad-${threadId}` }));
    expect(await client.hexists(rows, `bad-${threadId}`)).toBe(0);
    await store.claimOutbox({ leaseMs: 0, limit: 1000 });
    const kept: (string | undefined)[] = [];
    for await (const { event, subject, body } of store.exportAudit())
      if (subject === `bad-${threadId}`) kept.push(event, JSON.parse(body).row);
    expect(kept).toEqual(['unreadable', 'not json']);
  });
}
