import { describe, expect, test } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { OutboxItem } from '../../../src/store/port/values.ts';
import {
  approve,
  ask,
  askAndLose,
  beginTurn,
  found,
  MINUTE_MS,
  newRequest,
  newThreadId,
  suspendTurn,
} from '../support.ts';
import type { Subject } from './suite.ts';

const VIEWS = [
  { id: 'thread', place: { channel: 'C1' } },
  { id: 'dm-ann', place: { channel: 'D1' } },
];

/** Outbox items: leased by one sender, removed once sent, due again when the record changes. */
export function describeOutbox(subject: () => Subject): void {
  const takeOf = async (threadId: string, leaseMs = MINUTE_MS): Promise<OutboxItem[]> => {
    const items = await subject().store.claimOutbox({ leaseMs, limit: 1000 });
    return items.filter(({ item }) => item.includes(threadId));
  };
  const takeRow = async (threadId: string, leaseMs = MINUTE_MS) => {
    const [item] = await takeOf(threadId, leaseMs);
    if (item?.kind !== 'row') throw new Error(`The outbox holds no row of ${threadId}`);
    return item;
  };
  const takeView = async (requestId: string, leaseMs = MINUTE_MS) => {
    const items = await takeOf(threadOf(requestId) ?? '', leaseMs);
    const view = items.find((item) => item.kind === 'view' && item.viewId === 'thread');
    if (view?.kind !== 'view') throw new Error(`The outbox holds no view of ${requestId}`);
    return view;
  };

  describe('a row that its writer holds', () => {
    test('goes to nobody else until the claim ends, and is gone when it is done', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const held = await store.enqueueOutbox(threadId, { id: threadId, body: { text: 'mine' } }, MINUTE_MS);
      expect(await takeOf(threadId)).toEqual([]);
      expect(await store.done(held)).toBe('done');
      expect(await takeOf(threadId)).toEqual([]);
    });

    test('goes to another sender when its writer has not done it in time', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const held = await store.enqueueOutbox(threadId, { id: threadId, body: { text: 'mine' } }, 0);
      expect(await takeRow(threadId)).toMatchObject({ body: { text: 'mine' }, tries: 1 });
      expect(await store.done(held)).toBe('stale');
    });
  });

  describe('the Home of a person', () => {
    /** Claims the Homes that are due, and returns that of a person. */
    const takeHome = async (person: string): Promise<OutboxItem & { kind: 'home' }> => {
      let found: OutboxItem | undefined;
      await expect
        .poll(async () => {
          const items = await subject().store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
          found = items.find((item) => item.kind === 'home' && item.person === person);
          return found;
        })
        .toBeDefined();
      if (found?.kind !== 'home') throw new Error('no Home');
      return found;
    };

    test('that is kept is due after a change of their request, on its page, and again after one that comes while it is published', async () => {
      const { store } = subject();
      const person = `U-${newThreadId().replaceAll(/[^A-Za-z0-9]/g, '')}`;
      await store.keepHomes([person], Date.now() + MINUTE_MS, { list: 'waiting', from: '10' });
      const id = await ask(store, { policy: { principals: [person, 'U-ann'] } });
      const home = await takeHome(person);
      expect(home.page).toEqual({ list: 'waiting', from: '10' });
      await store.vote(id, approve('U-ann'));
      expect(await store.done(home)).toBe('due-again');
      expect(await store.done(await takeHome(person))).toBe('done');
      expect(await store.openHomes([person, 'U-none'])).toEqual([{ person, page: home.page }]);
    });

    test('is not published when nobody has opened it, nor after its time', async () => {
      const { store } = subject();
      const [never, over] = ['U-never', 'U-over'];
      await store.keepHomes([over], 1);
      await ask(store, { policy: { principals: [never, over] } });
      const kept = `U-${newThreadId().replaceAll(/[^A-Za-z0-9]/g, '')}`;
      await store.keepHomes([kept], Date.now() + MINUTE_MS);
      await ask(store, { policy: { principals: [kept] } });
      const seen: string[] = [];
      await expect
        .poll(async () => {
          const items = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1000 });
          seen.push(...items.flatMap((item) => (item.kind === 'home' ? [item.person] : [])));
          return seen;
        })
        .toContain(kept);
      expect(seen).not.toContain(never);
      expect(seen).not.toContain(over);
      await store.keepHomes([kept], 0);
      expect(await store.openHomes([kept])).toEqual([]);
    });
  });

  describe('a row of the outbox', () => {
    test('is held by one sender, and gone when it was sent', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const row = { id: `${threadId}|1`, body: { text: 'done | dusted' } };
      await store.enqueueOutbox(threadId, row);
      await store.enqueueOutbox(threadId, { ...row, body: { text: 'again' } });
      const item = await takeRow(threadId);
      expect(item).toMatchObject({ rowId: row.id, body: row.body });
      expect(await takeOf(threadId)).toEqual([]);
      expect(await store.done(item)).toBe('done');
      expect(await store.done(item)).toBe('done');
      expect(await takeOf(threadId, 0)).toEqual([]);
    });

    test('that was sent is not sent again for a call that arrives late', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const row = { id: `${threadId}:late`, body: { text: 'hello' } };
      await store.enqueueOutbox(threadId, row);
      expect(await store.done(await takeRow(threadId))).toBe('done');
      await store.enqueueOutbox(threadId, row);
      expect(await takeOf(threadId, 0)).toEqual([]);
    });

    test('that was sent is remembered with the last thousand only', async () => {
      const { store, client, prefix } = subject();
      const threadId = newThreadId();
      const sent = `{${prefix}}:sent`;
      const old = Array.from({ length: 1000 }, (_, index) => [index, `${threadId}:old-${index}`]);
      await client.zadd(sent, ...old.flat());
      await store.enqueueOutbox(threadId, { id: `${threadId}:new`, body: {} });
      await store.done(await takeRow(threadId));
      expect(await client.zcard(sent)).toBe(1000);
      expect(await client.zscore(sent, `${threadId}:new`)).not.toBeNull();
    });

    test('is left as it is by a turn, a reminder or an escalation that brings its id again', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const policy = { remindEveryMs: 1, escalate: { afterMs: 0, to: ['U-boss'] } };
      const row = { id: `${threadId}:once`, body: { text: 'first' } };
      const second = { ...row, body: { text: 'second' } };
      const request = newRequest(threadId, { policy });
      await store.enqueueOutbox(threadId, row);
      const item = await takeRow(threadId);
      await suspendTurn(store, await beginTurn(store, threadId), { requests: [request], rows: [second] });
      await expect
        .poll(() => store.notify(request.id, 'remind', { row: second }))
        .toEqual({ outcome: 'sent' });
      expect(await store.notify(request.id, 'escalate', { row: second })).toEqual({ outcome: 'sent' });
      expect(await takeOf(threadId)).toEqual([]);
      expect(await store.retryOutbox(item, 0)).toBe('later');
      expect(await takeRow(threadId)).toMatchObject({ body: row.body });
    });

    test('says how often it was sent without an answer; an attempt that cannot have sent it does not count', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      const row = { id: `${threadId}:tries`, body: {} };
      await store.enqueueOutbox(threadId, row);
      for (const tries of [0, 1, 2]) {
        const item = await takeRow(threadId);
        expect(item.tries).toBe(tries);
        await store.retryOutbox(item, 0, { isUnsent: true });
        await store.retryOutbox(await takeRow(threadId), 0);
      }
    });

    test('passes to another sender when the first falls silent, who can then no longer end it', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      await store.enqueueOutbox(threadId, { id: threadId, body: {} });
      const first = await takeRow(threadId, 0);
      const second = await takeRow(threadId);
      expect(second.owner).not.toBe(first.owner);
      expect(await store.done(first)).toBe('stale');
      expect(await store.retryOutbox(first, 0)).toBe('stale');
      expect(await store.done(second)).toBe('done');
    });

    test('that could not be sent is due again after a while', async () => {
      const { store } = subject();
      const threadId = newThreadId();
      await store.enqueueOutbox(threadId, { id: threadId, body: {} });
      expect(await store.retryOutbox(await takeRow(threadId), MINUTE_MS)).toBe('later');
      expect(await takeOf(threadId)).toEqual([]);
      await store.enqueueOutbox(`${threadId}b`, { id: `${threadId}b`, body: {} });
      expect(await store.retryOutbox(await takeRow(`${threadId}b`), 0)).toBe('later');
      expect(await takeRow(`${threadId}b`)).toMatchObject({ rowId: `${threadId}b` });
    });
  });

  describe('a view of a request', () => {
    test('is one item for each place, however often the record changes', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS, policy: { quorum: 3 } });
      await store.vote(id, approve('U-ann'));
      await store.vote(id, approve('U-ben'));
      const items = await takeOf(threadOf(id) ?? '');
      expect(items.map((item) => item.kind === 'view' && item.viewId).sort()).toEqual(['dm-ann', 'thread']);
      expect((await found(store, id)).revision).toBe(3);
    });

    test('is stored with the place where it was posted, and is due again only when the record changes', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS });
      const item = await takeView(id);
      const { revision } = await found(store, id);
      expect(await store.done(item, { revision, postedAt: { ts: '171.2' } })).toBe('done');
      expect((await found(store, id)).views).toContainEqual({
        id: 'thread',
        place: { channel: 'C1' },
        postedAt: { ts: '171.2' },
        drawn: revision,
      });
      await expect(takeView(id)).rejects.toThrow('holds no view');
      await store.vote(id, approve('U-ann'));
      expect(await takeView(id)).toMatchObject({ requestId: id, viewId: 'thread' });
    });

    test('that was drawn at last starts counting its tries anew', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS });
      await store.retryOutbox(await takeView(id), 0);
      const second = await takeView(id);
      expect(second.tries).toBe(1);
      await store.done(second, { revision: (await found(store, id)).revision, postedAt: { ts: '171.2' } });
      await store.vote(id, approve('U-ann'));
      expect(await takeView(id)).toMatchObject({ tries: 0 });
    });

    test('is due once more later if that is asked for, and at once for a change in the meantime', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS.slice(0, 1), policy: { quorum: 3 } });
      const { revision } = await found(store, id);
      expect(await store.done(await takeView(id), { revision, postedAt: { ts: '171.2' }, againMs: 1 })).toBe(
        'due-later',
      );
      await expect.poll(async () => (await takeOf(threadOf(id) ?? '')).length).toBe(1);

      const other = await ask(store, { views: VIEWS.slice(0, 1), policy: { quorum: 3 } });
      await store.done(await takeView(other), { revision, postedAt: { ts: '171.3' }, againMs: MINUTE_MS });
      await store.vote(other, approve('U-ann'));
      expect(await takeView(other)).toMatchObject({ requestId: other, viewId: 'thread', tries: 0 });
    });

    test('is still due later when an earlier drawing of that kind was under way', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS.slice(0, 1), policy: { quorum: 3 } });
      const drawn = async (item: OutboxItem, againMs?: number) => {
        if (item.kind !== 'view') throw new Error('The outbox gave no view');
        return store.done(item, {
          revision: (await found(store, id)).revision,
          postedAt: { ts: '171.2' },
          againMs,
        });
      };
      await drawn(await takeView(id), 1);
      let later: OutboxItem | undefined;
      await expect.poll(async () => ([later] = await takeOf(threadOf(id) ?? ''))).toHaveLength(1);
      if (later === undefined) throw new Error('The outbox gave no view');
      await store.vote(id, approve('U-ann'));
      expect(await drawn(await takeView(id), 1)).toBe('due-later');
      expect(await drawn(later)).toBe('stale');
      await expect.poll(async () => (await takeOf(threadOf(id) ?? '')).length).toBe(1);
    });

    test('can be added until the request has ended, and each place only once', async () => {
      const { store } = subject();
      const id = await ask(store);
      const moved = { id: 'thread', place: { channel: 'C2' } };
      expect(await store.redraw(id, { views: VIEWS })).toEqual({ outcome: 'redrawn', added: 2 });
      expect(await store.redraw(id, { views: [moved] })).toEqual({ outcome: 'redrawn', added: 0 });
      const { views } = await found(store, id);
      expect(views.map((view) => ({ id: view.id, place: view.place }))).toEqual(VIEWS);
      const items = await takeOf(threadOf(id) ?? '');
      expect(items.map((item) => item.kind === 'view' && item.viewId).sort()).toEqual(['dm-ann', 'thread']);
      await store.vote(id, { ...approve('U-ann'), decision: 'reject' });
      const decided = { outcome: 'settled', state: 'rejected', by: 'U-ann' };
      expect(await store.redraw(id, { views: [{ id: 'late', place: {} }] })).toEqual(decided);
    });

    test('can be added for those who say what became of an action', async () => {
      const { store } = subject();
      const id = await askAndLose(store);
      expect(await store.redraw(id, { views: VIEWS })).toEqual({ outcome: 'redrawn', added: 2 });
    });

    test('is due again at once when the record changed while it was drawn', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS });
      const item = await takeView(id);
      const { revision } = await found(store, id);
      await store.vote(id, approve('U-ann'));
      await expect(takeView(id), 'one update at a time for one message').rejects.toThrow('holds no view');
      expect(await store.done(item, { revision, postedAt: { ts: '171.2' } })).toBe('due-again');
      const next = await takeView(id);
      expect(
        await store.done(next, { revision: (await found(store, id)).revision, postedAt: { ts: '171.2' } }),
      ).toBe('done');
    });

    test('is due again when an earlier drawing ends after a later one, because it may have replaced that card', async () => {
      const { store } = subject();
      const id = await ask(store, { views: VIEWS });
      const { revision } = await found(store, id);
      const early = await takeView(id, 0);
      await store.vote(id, approve('U-ann'));
      const late = await takeView(id);
      expect(
        await store.done(late, { revision: (await found(store, id)).revision, postedAt: { ts: '171.2' } }),
      ).toBe('done');
      expect(await store.done(early, { revision, postedAt: { ts: '171.2' } })).toBe('due-again');
      expect(await takeView(id)).toMatchObject({ requestId: id, viewId: 'thread' });
    });
  });
}
