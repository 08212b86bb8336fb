import { expect } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { OutboxItem } from '../../../src/store/port/values.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import {
  actor,
  approve,
  ask,
  askAndLose,
  MINUTE_MS,
  newRun,
  newThreadId,
  openAndReject,
  reject,
  suspendTurn,
  takeTurn,
} from '../support.ts';
import type { Scenarios } from './stage.ts';

const NOBODY = 'T-none~none';
const ROW = { id: 'row', body: {} };

async function askAndReject(store: Store): Promise<string> {
  const requestId = await ask(store);
  await store.vote(requestId, reject('U-ann'));
  return requestId;
}

/** A row that one sender took and, being slow, has to share with another. */
async function takeLate(store: Store): Promise<OutboxItem & { kind: 'row' }> {
  const threadId = newThreadId();
  await store.enqueueOutbox(threadId, ROW);
  const [late] = await store.claimOutbox({ leaseMs: 0, limit: 1 });
  await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 });
  if (late?.kind !== 'row') throw new Error('The outbox gave no row');
  return late;
}

/** Guards of timers, which never fire early, and of the outbox, which has one sender at a time. */
export const timeScenarios: Scenarios = {
  'spend-repeated': async ({ resending }) => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    const spending = {
      callId: 'one',
      threadId: newThreadId(),
      person: 'U-rita',
      channel: 'C1',
      model: 'm',
      usage,
    };
    expect(await resending.spend(spending)).toEqual({ bot: 15, person: 15, thread: 15 });
  },

  'notify-unknown': async ({ store, client, keys }) => {
    for (const timer of ['remind', 'escalate', 'recover'] as const) {
      await client.zadd(keys.shared('timers'), 0, `${timer}|${NOBODY}`);
      expect(await store.notify(NOBODY, timer, { row: ROW })).toEqual({ outcome: 'unknown' });
    }
    expect(await client.zcard(keys.shared('timers'))).toBe(0);
  },
  'notify-due': async ({ store, resending }) => {
    const policy = { remindEveryMs: MINUTE_MS, escalate: { afterMs: MINUTE_MS, to: ['U-cid'] } };
    const requestId = await ask(store, { policy });
    for (const timer of ['remind', 'escalate'] as const)
      expect(await store.notify(requestId, timer, { row: ROW })).toEqual({ outcome: 'not-due' });
    const lost = await askAndLose(store);
    expect(await resending.notify(lost, 'recover', { row: ROW })).toEqual({ outcome: 'not-due' });
  },
  'notify-quiet': async ({ store, client, keys }) => {
    const requestId = await ask(store, { policy: { remindEveryMs: 1 } });
    const timers = keys.shared('timers');
    await client.zadd(timers, 0, `remind|${requestId}`);
    const morning = Date.now() + MINUTE_MS;
    expect(await store.notify(requestId, 'remind', { row: ROW, quietUntil: morning })).toEqual({
      outcome: 'postponed',
    });
    expect(await client.zscore(timers, `remind|${requestId}`)).toBe(`${morning}`);
    // One that was due before the hours ended, and is late, is sent.
    await client.zadd(timers, 0, `remind|${requestId}`);
    expect(await store.notify(requestId, 'remind', { row: ROW, quietUntil: Date.now() - 1 })).toEqual({
      outcome: 'sent',
    });
  },
  'notify-malformed': async ({ store, client, keys }) => {
    const requestId = await ask(store);
    await client.zadd(keys.shared('timers'), 0, `remind|${requestId}`);
    expect(await store.notify(requestId, 'remind', { row: ROW })).toEqual({ outcome: 'malformed' });
  },

  'purge-unknown': async ({ store }) => {
    expect(await store.purge(NOBODY)).toEqual({ outcome: 'unknown' });
  },
  'purge-settled': async ({ store }) => {
    const requestId = await ask(store);
    await store.vote(requestId, approve('U-ann'));
    expect(await store.purge(requestId)).toEqual({ outcome: 'not-settled' });
  },
  'purge-due': async ({ store }) => {
    const requestId = await askAndReject(store);
    await suspendTurn(store, await takeTurn(store, threadOf(requestId) ?? ''));
    expect(await store.purge(requestId)).toEqual({ outcome: 'not-due' });
  },
  'purge-unread': async ({ fleeting }) => {
    const requestId = await ask(fleeting, { kind: 'question' });
    await fleeting.answer(requestId, actor('U-ann'), 'yes');
    expect(await fleeting.purge(requestId)).toEqual({ outcome: 'not-due' });
  },

  'purge-ended': async ({ fleeting }) => {
    const id = await openAndReject(fleeting);
    expect(await fleeting.purge(id)).toEqual({ outcome: 'not-due' });
    await fleeting.notify(id, 'ended', {});
    expect(await fleeting.purge(id)).toEqual({ outcome: 'purged' });
  },
  'purge-again': async ({ fleeting }) => {
    const [former, next] = [await openAndReject(fleeting), newRun()];
    await fleeting.open(next, former);
    expect(await fleeting.purge(former)).toEqual({ outcome: 'not-due' });
    await fleeting.vote(next.id, reject('U-ann'));
    await fleeting.notify(next.id, 'ended', {});
    for (const id of [next.id, former])
      expect(await fleeting.purge(id, { early: true })).toEqual({ outcome: 'purged' });
  },

  'send-waiting': async ({ store }) => {
    const threadId = newThreadId();
    const take = () => store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 });
    await store.enqueueOutbox(threadId, ROW);
    await take();
    await store.enqueueOutbox(threadId, ROW);
    expect(await take()).toEqual([]);
  },
  'send-sent': async ({ store }) => {
    const threadId = newThreadId();
    const take = () => store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 });
    await store.enqueueOutbox(threadId, ROW);
    for (const item of await take()) if (item.kind === 'row') await store.done(item);
    await store.enqueueOutbox(threadId, ROW);
    expect(await take()).toEqual([]);
  },
  'outbox-done-repeated': async ({ resending, store, client, keys }) => {
    const threadId = newThreadId();
    await store.enqueueOutbox(threadId, ROW);
    const [item] = await store.claimOutbox({ leaseMs: MINUTE_MS, limit: 1 });
    if (item?.kind !== 'row') throw new Error('The outbox gave no row');
    expect(await resending.done(item)).toBe('done');
    // A row that cannot be read leaves one row in the audit log.
    await client.zadd(keys.shared('outbox'), 0, 'row|without-text');
    expect(await resending.claimOutbox({ leaseMs: 0, limit: 1 })).toEqual([]);
    expect(await verifyChain(store)).toEqual({ rows: 1, problems: [] });
  },
  'outbox-done-stale': async ({ store }) => {
    expect(await store.done(await takeLate(store))).toBe('stale');
    const person = 'U-ann';
    await store.tell(person, { id: 'C1:1~one', revision: 1 }, 0);
    const claim = { leaseMs: 0, limit: 10 };
    const late = (await store.claimOutbox(claim)).find(({ kind }) => kind === 'summary');
    if (late === undefined) throw new Error('The outbox gave no summary');
    await store.claimOutbox({ ...claim, leaseMs: MINUTE_MS });
    expect(await store.done(late, { revision: 1, postedAt: { ts: '1' }, number: 1 })).toBe('stale');
    expect(await store.readSummary(person)).toMatchObject({ number: 0, place: undefined });
  },
  'outbox-claim-lapsed': async ({ store }) => {
    const threadId = newThreadId();
    await store.enqueueOutbox(threadId, { id: 'row', body: {} });
    await store.claimOutbox({ leaseMs: 0, limit: 1 });
    expect(await store.claimOutbox({ leaseMs: 0, limit: 1 })).toMatchObject([{ tries: 1 }]);
  },
  'outbox-retry-stale': async ({ store }) => {
    expect(await store.retryOutbox(await takeLate(store), 0)).toBe('stale');
  },
};
