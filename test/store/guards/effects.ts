import { expect } from 'vitest';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import {
  actor,
  beginTurn,
  effectFinish,
  effectStart,
  MINUTE_MS,
  newThreadId,
  suspendTurn,
  takeTurn,
} from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const CALL = 'call-1';
const FAILURE = {
  mostFailures: 2,
  delayMs: 1_000,
  reason: 'it failed',
  notices: [{ id: 'notice', body: { text: 'it failed' } }],
};

async function startCall({ store }: Stage) {
  const turn = await beginTurn(store, newThreadId());
  await store.startEffect(turn, effectStart(CALL));
  return turn;
}

/** The guards of effects within a turn. */
export const effectScenarios: Scenarios = {
  'start-turn': async ({ store }) => {
    const late = await beginTurn(store, newThreadId(), 0);
    await takeTurn(store, late.threadId);
    expect(await store.startEffect(late, effectStart(CALL))).toEqual({ outcome: 'stale' });
  },
  'start-lease': async ({ store }) => {
    const late = await beginTurn(store, newThreadId(), 0);
    expect(await store.startEffect(late, effectStart(CALL))).toEqual({ outcome: 'stale' });
  },
  'start-stopped': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.stop(turn.threadId, actor('U-rita'));
    expect(await store.startEffect(turn, effectStart(CALL))).toEqual({ outcome: 'stopped' });
  },
  'start-finished': async (stage) => {
    const turn = await startCall(stage);
    await stage.store.finishEffect(turn, effectFinish(CALL));
    const again = await stage.store.startEffect(turn, effectStart(CALL, { run: 'second' }));
    expect(again).toEqual({ outcome: 'finished' });
  },
  'start-call-repeated': async ({ store, resending }) => {
    const turn = await beginTurn(store, newThreadId());
    await resending.startEffect(turn, effectStart(CALL));
    await store.release(turn);
    expect((await takeTurn(store, turn.threadId)).effects).toMatchObject([{ ref: CALL, runs: 1 }]);
  },
  'start-logged': async (stage) => {
    const turn = await startCall(stage);
    await stage.store.startEffect(turn, effectStart('call-2'));
    await stage.store.release(turn);
    expect((await takeTurn(stage.store, turn.threadId)).messages).toHaveLength(1);
  },
  'finish-call-repeated': async (stage) => {
    const turn = await startCall(stage);
    expect(await stage.resending.finishEffect(turn, effectFinish(CALL))).toEqual({ outcome: 'finished' });
    expect(await verifyChain(stage.store)).toEqual({ rows: 2, problems: [] });
  },
  'finish-turn': async (stage) => {
    const turn = await startCall(stage);
    const stale = await stage.store.finishEffect(turn, effectFinish(CALL, { run: 'second' }));
    expect(stale).toEqual({ outcome: 'stale' });
  },
  'finish-late': async (stage) => {
    const turn = await startCall(stage);
    await suspendTurn(stage.store, turn, { read: 0 });
    await stage.resending.finishEffect(turn, effectFinish(CALL));
    expect(await verifyChain(stage.store)).toEqual({ rows: 2, problems: [] });
  },
  'release-failed': async ({ store, resending }) => {
    const turn = await beginTurn(store, newThreadId());
    expect(await resending.release(turn, FAILURE)).toEqual({ outcome: 'failed' });
  },
  // A turn that was given back has not failed.
  'release-repeated': async ({ store, resending }) => {
    const turn = await beginTurn(store, newThreadId());
    expect(await resending.release(turn)).toEqual({ outcome: 'released' });
    expect(await store.release(turn, FAILURE)).toEqual({ outcome: 'stale' });
  },
  'release-most': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId());
    expect(await store.release(turn, FAILURE)).toEqual({ outcome: 'failed' });
    const again = await takeTurn(store, turn.threadId);
    expect(await store.release(again, FAILURE)).toEqual({ outcome: 'quarantined' });
  },
  'unquarantine-repeated': async ({ store, resending }) => {
    const turn = await beginTurn(store, newThreadId());
    await store.release(turn, { ...FAILURE, mostFailures: 1 });
    expect(await resending.unquarantine(turn.threadId, {})).toEqual({ outcome: 'not-quarantined' });
    expect(await verifyChain(store)).toEqual({ rows: 2, problems: [] });
  },
  'release-stale': async ({ store }) => {
    const turn = await beginTurn(store, newThreadId(), 0);
    await takeTurn(store, turn.threadId, MINUTE_MS);
    expect(await store.release(turn)).toEqual({ outcome: 'stale' });
    expect(await store.release(turn, FAILURE)).toEqual({ outcome: 'stale' });
  },
};
