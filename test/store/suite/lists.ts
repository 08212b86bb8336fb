import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import type { Page, PageOptions } from '../../../src/store/port/values.ts';
import { approve, ask, beginTurn, found, newRequest, newThreadId, reject, suspendTurn } from '../support.ts';
import type { Subject } from './suite.ts';

async function countPending(store: Store, person: string): Promise<number> {
  return (await store.list('pending', [person], { limit: 100 })).requestIds.length;
}

/** The lists of App Home, which cost a page and not the total. */
export function describeLists(subject: () => Subject): void {
  async function readPages(read: (page: PageOptions) => Promise<Page>, limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    for (let from: string | undefined; ; ) {
      const page = await read({ limit, from });
      pages.push([...page.requestIds]);
      if (page.next === undefined) return pages;
      from = page.next;
    }
  }

  describe('the lists', () => {
    test('give 500 requests of many threads in pages of 20: all of them, newest first, none twice', async () => {
      const { store } = subject();
      const [person, requester] = [`U-${newThreadId()}`, `U-${newThreadId()}`];
      const ids: string[] = [];
      const openThread = async () => {
        const threadId = newThreadId();
        const requests = Array.from({ length: 4 }, () =>
          newRequest(threadId, { requester, policy: { principals: [person] } }),
        );
        await suspendTurn(store, await beginTurn(store, threadId), { requests });
        ids.push(...requests.map(({ id }) => id));
      };
      for (let batch = 0; batch < 25; batch += 1) await Promise.all(Array.from({ length: 5 }, openThread));
      const waiting = await readPages((page) => store.list('waiting', [person], page), 20);
      expect(waiting.map((page) => page.length)).toEqual(Array(25).fill(20));
      expect([...waiting.flat()].sort()).toEqual([...ids].sort());
      const created = await Promise.all(waiting.flat().map(async (id) => (await found(store, id)).createdAt));
      expect(created).toEqual([...created].sort((left, right) => right - left));
      const asked = await readPages((page) => store.list('asked', [requester], page), 20);
      expect(asked.flat()).toEqual(waiting.flat());
    });

    test('give all requests of one thread, which lie side by side', async () => {
      const { store } = subject();
      const [person, threadId] = [`U-${newThreadId()}`, newThreadId()];
      const requests = Array.from({ length: 50 }, () =>
        newRequest(threadId, { policy: { principals: [person] } }),
      );
      await suspendTurn(store, await beginTurn(store, threadId), { requests });
      const pages = await readPages((page) => store.list('waiting', [person], page), 20);
      expect(pages.map((page) => page.length)).toEqual([20, 20, 10]);
      expect(pages.flat().sort()).toEqual(requests.map(({ id }) => id).sort());
    });

    test('name a request once for a person who is in two of its groups', async () => {
      const { store } = subject();
      const groups = [`S-${newThreadId()}`, `S-${newThreadId()}`];
      const both = await ask(store, { policy: { principals: groups } });
      const one = await ask(store, { policy: { principals: groups.slice(0, 1) } });
      const pages = await readPages((page) => store.list('waiting', groups, page), 1);
      expect(pages.flat().sort()).toEqual([both, one].sort());
    });

    test('do not confuse a person with another whose id begins alike', async () => {
      const { store } = subject();
      const person = `U-${newThreadId()}`;
      await ask(store, { requester: `${person}0`, policy: { principals: [`${person}-2`] } });
      expect((await store.list('waiting', [person], { limit: 5 })).requestIds).toEqual([]);
      expect((await store.list('asked', [person], { limit: 5 })).requestIds).toEqual([]);
    });

    test('move a decided request from what waits to what was decided, for the requester and the decider', async () => {
      const { store } = subject();
      const [ann, rita] = [`U-${newThreadId()}`, `U-${newThreadId()}`];
      const id = await ask(store, { requester: rita, policy: { principals: [ann] } });
      expect((await store.list('waiting', [ann], { limit: 5 })).requestIds).toEqual([id]);
      expect((await store.list('decided', [ann], { limit: 5 })).requestIds).toEqual([]);
      await store.vote(id, reject(ann));
      expect((await store.list('waiting', [ann], { limit: 5 })).requestIds).toEqual([]);
      expect((await store.list('decided', [ann], { limit: 5 })).requestIds).toEqual([id]);
      expect((await store.list('decided', [rita], { limit: 5 })).requestIds).toEqual([id]);
      expect((await store.list('asked', [rita], { limit: 5 })).requestIds).toEqual([id]);
    });

    test('name and count a request for each of its requesters', async () => {
      const { store } = subject();
      const [rita, tom] = [`U-${randomUUID()}`, `U-${randomUUID()}`];
      const id = await ask(store, { requester: rita, requesters: [rita, tom] });
      for (const person of [rita, tom]) {
        expect((await store.list('asked', [person], { limit: 5 })).requestIds).toEqual([id]);
        expect(await countPending(store, person)).toBe(1);
      }
      await store.vote(id, reject('U-ann'));
      for (const person of [rita, tom]) {
        expect((await store.list('decided', [person], { limit: 5 })).requestIds).toEqual([id]);
        expect(await countPending(store, person)).toBe(0);
      }
    });

    test('count what of a person is pending, over all threads, and nothing that was decided, approved or asked by another', async () => {
      const { store } = subject();
      const rita = `U-${newThreadId()}`;
      const [threadId, ann] = [newThreadId(), 'U-ann'];
      const together = Array.from({ length: 3 }, () => newRequest(threadId, { requester: rita }));
      await suspendTurn(store, await beginTurn(store, threadId), { requests: together });
      const apart = await Promise.all(
        Array.from({ length: 3 }, () => ask(store, { requester: rita, policy: { principals: [ann] } })),
      );
      await ask(store, { requester: `${rita}0` });
      expect(await countPending(store, rita)).toBe(6);
      const [approved = '', rejected = '', withdrawn = ''] = apart;
      await store.vote(approved, approve(ann));
      await store.vote(rejected, reject(ann));
      await store.end(withdrawn, { state: 'withdrawn', who: rita, evidence: {} });
      expect(await countPending(store, rita)).toBe(3);
      expect(await countPending(store, 'U-nobody')).toBe(0);
    });

    test('no longer list an approved request as waiting', async () => {
      const { store } = subject();
      const ann = `U-${newThreadId()}`;
      const id = await ask(store, { policy: { principals: [ann] } });
      await store.vote(id, approve(ann));
      expect((await store.list('waiting', [ann], { limit: 5 })).requestIds).toEqual([]);
    });
  });
}
