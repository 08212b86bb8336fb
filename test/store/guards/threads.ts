import { expect } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import { THE_MODEL } from '../../../src/store/port/workspace.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import {
  actor,
  approve,
  ask,
  beginTurn,
  MINUTE_MS,
  newRequest,
  newThreadId,
  stateOf,
  suspendTurn,
  takeTurn,
  withdrawal,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const NOTE = { type: 'text/plain', bytes: Buffer.from('note') };
const ITEM = { id: 'item', body: {} };

/** A thread that something was said in and whose log cannot be read. */
async function brokenThread({ store, client, keys }: Stage): Promise<string> {
  const threadId = newThreadId();
  await store.enqueue(threadId, ITEM);
  await client.rpush(keys.log(threadId), 'not json');
  return threadId;
}

/** Guards of a thread and of its lease. */
export const threadScenarios: Scenarios = {
  'enqueue-unknown': async ({ store }) => {
    const put = await store.enqueue(newThreadId(), ITEM, { onlyKnown: true });
    expect(put).toEqual({ outcome: 'unknown-thread' });
  },
  'enqueue-duplicate': async ({ store }) => {
    const threadId = newThreadId();
    await store.enqueue(threadId, ITEM);
    expect(await store.enqueue(threadId, ITEM)).toEqual({ outcome: 'duplicate' });
  },
  'enqueue-at-work': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    const bodyAtWork = { role: 'context' };
    await store.enqueue(turn.threadId, ITEM, { bodyAtWork });
    await suspendTurn(store, turn);
    expect((await takeTurn(store, turn.threadId)).inbox).toEqual([{ id: ITEM.id, body: bodyAtWork }]);
  },
  'enqueue-claim-waiting': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    const request = newRequest(turn.threadId);
    await suspendTurn(store, turn, { requests: [request] });
    expect(await store.enqueue(turn.threadId, ITEM, { leaseMs: MINUTE_MS })).toEqual({
      outcome: 'waiting',
      requestIds: [request.id],
    });
  },
  'enqueue-claim-repeated': async ({ resending }) => {
    const put = await resending.enqueue(newThreadId(), ITEM, { leaseMs: MINUTE_MS });
    expect(put).toMatchObject({ outcome: 'enqueued', turn: { inbox: [ITEM] } });
  },
  'claim-quarantined': async (stage) => {
    const threadId = await brokenThread(stage);
    await stage.store.claimTurn(threadId, MINUTE_MS);
    await stage.client.del(stage.keys.log(threadId));
    expect(await stage.store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome: 'quarantined' });
  },
  'claim-busy': async ({ store }) => {
    const { threadId } = await beginTurn(store, newThreadId());
    expect(await store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome: 'busy' });
  },
  'claim-waiting': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await suspendTurn(store, turn, { requests: [newRequest(turn.threadId)] });
    await store.enqueue(turn.threadId, ITEM);
    expect(await store.claimTurn(turn.threadId, MINUTE_MS)).toEqual({ outcome: 'waiting', requests: 1 });
  },
  'claim-idle': async ({ store }) => {
    expect(await store.claimTurn(newThreadId(), MINUTE_MS)).toEqual({ outcome: 'idle' });
  },
  'claim-died': async ({ store, client, keys }) => {
    const { threadId } = await beginTurn(store, newThreadId());
    const [thread = ''] = keys.forScript(threadId);
    for (const outcome of ['claimed', 'claimed', 'claimed', 'claimed', 'died']) {
      await client.hset(thread, 'lease_until', '1');
      expect(await store.claimTurn(threadId, MINUTE_MS)).toMatchObject({ outcome });
    }
  },
  'claim-suspect': async ({ store }) => {
    const [one, other] = [await beginTurn(store, newThreadId(), 0), await beginTurn(store, newThreadId(), 0)];
    for (const { threadId } of [one, other]) await store.claimTurn(threadId, 0);
    await takeTurn(store, one.threadId);
    expect(await store.claimTurn(other.threadId, MINUTE_MS)).toMatchObject({ outcome: 'busy' });
  },
  'renew-lease-stale': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await suspendTurn(store, turn);
    expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stale' });
  },
  'renew-lease-stopped': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.stop(turn.threadId, actor('U-rita'));
    expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stopped' });
  },
  'renew-lease-held': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.freeze({ scope: '*', id: 'f', who: 'U-ann', reason: '', evidence: {} });
    expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'renewed' });
    await store.freeze({ scope: THE_MODEL, id: 'm', who: 'U-ann', reason: '', evidence: {} });
    expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'held' });
  },
  'release-held': async ({ store, client, keys }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.freeze({ scope: THE_MODEL, id: 'm', who: 'U-ann', reason: '', evidence: {} });
    const before = Date.now();
    expect(await store.release(turn)).toEqual({ outcome: 'released' });
    const at = Number(await client.zscore(keys.shared('timers'), `thread|${turn.threadId}`));
    expect(at).toBeGreaterThan(before + MINUTE_MS / 2);
  },
  'stop-idle': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await suspendTurn(store, turn);
    expect(await store.stop(turn.threadId, actor('U-rita'))).toEqual({ outcome: 'idle' });
  },
  'enqueue-stop': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.enqueue(turn.threadId, ITEM, { stops: actor('U-rita') });
    expect(await store.renewLease(turn, MINUTE_MS)).toEqual({ outcome: 'stopped' });
  },
  'stop-repeated': async ({ store, resending, client, keys }) => {
    const { threadId } = await beginTurn(store, newThreadId());
    await resending.stop(threadId, actor('U-rita'));
    const [thread = ''] = keys.forScript(threadId);
    expect((await client.hget(thread, 'stopped_by'))?.match(/U-rita/g)).toHaveLength(1);
  },
  'claim-stopped': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.stop(turn.threadId, actor('U-rita'));
    await store.release(turn);
    expect(await takeTurn(store, turn.threadId)).toMatchObject({ isStopped: true });
  },
  'suspend-stopped': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    const request = newRequest(turn.threadId);
    await store.stop(turn.threadId, actor('U-rita'));
    await suspendTurn(store, turn, { requests: [request] });
    expect(await stateOf(store, request.id)).toBe('withdrawn');
  },
  'suspend-repeated': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await suspendTurn(store, turn);
    expect(await store.suspend(turn, { messages: [], read: 1 })).toEqual({
      outcome: 'suspended',
      waiting: 0,
      unread: 0,
    });
  },
  'suspend-stale': async ({ store }) => {
    const late = await beginTurn(store, newThreadId(), 0);
    await takeTurn(store, late.threadId);
    expect(await store.suspend(late, { messages: [], read: 1 })).toEqual({ outcome: 'stale' });
  },
  'suspend-existing': async ({ store }) => {
    const threadId = newThreadId();
    const request = newRequest(threadId, { kind: 'question' });
    await suspendTurn(store, await beginTurn(store, threadId), { requests: [request] });
    await store.answer(request.id, actor('U-ann'), 'yes');
    const again = await store.suspend(await takeTurn(store, threadId), {
      messages: [],
      read: 0,
      requests: [request],
    });
    expect(again).toEqual({ outcome: 'existing-request', requestId: request.id });
  },
  'retire-due': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await suspendTurn(store, turn);
    expect(await store.retire(turn.threadId)).toEqual({ outcome: 'not-due' });
  },
  'retire-open': async ({ fleeting }) => {
    const turn = await beginTurn(fleeting, newThreadId());
    const { threadId } = turn;
    await suspendTurn(fleeting, turn, { read: 0 });
    await suspendTurn(fleeting, await takeTurn(fleeting, threadId), { requests: [newRequest(threadId)] });
    expect(await fleeting.retire(threadId)).toEqual({ outcome: 'in-use' });
  },
  'retire-inbox': async ({ fleeting }) => {
    const turn = await beginTurn(fleeting, newThreadId());
    await suspendTurn(fleeting, turn, { read: 0 });
    expect(await fleeting.retire(turn.threadId)).toEqual({ outcome: 'in-use' });
  },
  'retire-unread': async ({ store }) => {
    const requestId = await ask(store);
    await store.end(requestId, withdrawal('U-rita'));
    expect(await store.retire(threadOf(requestId) ?? '', { early: true })).toEqual({ outcome: 'in-use' });
  },
  'write-file-unknown': async ({ store, client, keys }) => {
    expect(await store.writeFile(newThreadId(), 'note', NOTE)).toBe('unknown-thread');
    expect(await store.writeFile(newThreadId(), 'note', undefined)).toBe('unknown-thread');
    expect(await client.keys(`${keys.files('').split(':files')[0]}*`)).toEqual([]);
  },
  'write-file-repeated': async ({ store }) => {
    const { threadId } = await beginTurn(store, newThreadId());
    const long = { ...NOTE, bytes: Buffer.alloc(45) };
    await store.writeFile(threadId, 'note', long);
    expect(await store.writeFile(threadId, 'note', long)).toBe('written');
  },
  'write-file-full': async ({ store }) => {
    const { threadId } = await beginTurn(store, newThreadId());
    const long = { ...NOTE, bytes: Buffer.alloc(90) };
    expect(await store.writeFile(threadId, 'note', long)).toBe('full');
  },
  'quarantine-repeated': async (stage) => {
    await stage.resending.claimTurn(await brokenThread(stage), MINUTE_MS);
    expect(await verifyChain(stage.store)).toEqual({ rows: 1, problems: [] });
  },
  'note-repeated': async ({ resending, store }) => {
    await resending.note('note', 'configured', 'manifest', {});
    expect(await verifyChain(store)).toEqual({ rows: 1, problems: [] });
  },
  'trim-repeated': async ({ resending, store }) => {
    await store.note('note', 'configured', 'manifest', {});
    for await (const row of store.exportAudit())
      expect(await resending.trimAudit(row)).toEqual({ outcome: 'trimmed', rows: 0, checkpoints: 0 });
  },
  'trim-exported': async ({ store }) => {
    await store.note('note', 'configured', 'manifest', {});
    expect(await store.trimAudit({ seq: 1, hash: 'another' })).toEqual({ outcome: 'not-as-exported' });
  },
  'request-malformed': async ({ store, client, keys }) => {
    const requestId = await ask(store);
    await client.hdel(keys.ask(requestId), 'quorum');
    expect(await store.vote(requestId, approve('U-ann'))).toEqual({ outcome: 'malformed' });
  },
};
