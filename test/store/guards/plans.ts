import { expect } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import { ALONE, threadOf } from '../../../src/store/port/store.ts';
import {
  approve,
  attempt,
  beginTurn,
  found,
  newRequest,
  newThreadId,
  outcome,
  reject,
  stateOf,
  suspendTurn,
  takeTurn,
} from '../support.ts';
import type { Scenarios } from './stage.ts';

interface OpenPlan {
  readonly plan: string;
  readonly first: string;
  readonly second: string;
  readonly third: string;
}

/** Opens a plan of three steps; the digest of the second is what is on record for it, unless the plan lists another. */
export async function askPlan(
  store: Store,
  { listed = 'digest-1', alone = false }: { readonly listed?: string; readonly alone?: boolean } = {},
): Promise<OpenPlan> {
  const threadId = newThreadId();
  const [plan, first, second, third] = [1, 2, 3, 4].map(() => newRequest(threadId));
  if (plan === undefined || first === undefined || second === undefined || third === undefined)
    throw new Error('A request is missing');
  const step = (request: typeof first, number: number, isAlone = false) => ({
    ...request,
    step: { plan: plan.id, number, alone: isAlone },
  });
  const steps = [
    { id: first.id, digest: 'digest-1' },
    { id: second.id, digest: alone ? ALONE : listed },
    { id: third.id, digest: 'digest-1' },
  ];
  await suspendTurn(store, await beginTurn(store, threadId), {
    requests: [{ ...plan, steps }, step(first, 1), step(second, 2, alone), step(third, 3)],
  });
  return { plan: plan.id, first: first.id, second: second.id, third: third.id };
}

async function run(store: Store, requestId: string, state: 'succeeded' | 'failed' = 'succeeded') {
  expect(await store.start(requestId, attempt(requestId))).toMatchObject({ outcome: 'started' });
  await store.finish(requestId, outcome(requestId, { state }));
}

/** Lists the decided requests that somebody asked for or decided. */
async function decided(store: Store, who: string): Promise<readonly string[]> {
  return (await store.list('decided', [who], { limit: 10 })).requestIds;
}

const NOT_NEXT = { outcome: 'not-next' };

/** Guards of plans and their steps. */
export const planScenarios: Scenarios = {
  'vote-step': async ({ store }) => {
    const { first } = await askPlan(store);
    expect(await store.vote(first, approve('U-ann'))).toEqual({ outcome: 'not-an-approval' });
  },
  'start-planned': async ({ store }) => {
    const { plan, second } = await askPlan(store, { alone: true });
    await store.vote(second, approve('U-ann'));
    await store.vote(plan, approve('U-ann'));
    expect(await store.start(second, attempt('second'))).toEqual(NOT_NEXT);
  },
  'plan-approved': async ({ store }) => {
    const { plan, first } = await askPlan(store);
    expect(await store.start(first, attempt('first'))).toEqual(NOT_NEXT);
    await store.vote(plan, approve('U-ann'));
    await run(store, first);
    expect((await found(store, first)).votes).toMatchObject([{ who: 'U-ann', decision: 'approve' }]);
  },
  'conclude-step': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    await store.start(first, attempt('first'));
    await store.finish(first, outcome('first', { state: 'paused' }));
    // It holds the rest, and goes on in its thread.
    for (const step of [second, third]) await store.start(step, attempt(step));
    await store.end(plan, { state: 'superseded', reason: 'held' });
    const turn = await takeTurn(store, threadOf(first) ?? '');
    await store.conclude(turn, first, { state: 'succeeded', summary: 'done' });
    expect(await stateOf(store, first)).toBe('succeeded');
    expect(await decided(store, 'U-rita')).toEqual([plan]);
    expect(await decided(store, 'U-ann')).toEqual([]);
  },
  'plan-next': async ({ store }) => {
    const { plan, first, second } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    expect(await store.start(second, attempt('second'))).toEqual(NOT_NEXT);
    await run(store, first);
    await run(store, second);
  },
  'plan-held': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    await store.end(third, { state: 'superseded', reason: 'edited' });
    expect(await store.start(first, attempt('first'))).toMatchObject({ state: 'superseded' });
    expect(await stateOf(store, second)).toBe('pending');
  },
  'plan-ended': async ({ store }) => {
    const { plan, first, second } = await askPlan(store);
    await store.vote(plan, reject('U-ann'));
    expect(await store.start(first, attempt('first'))).toMatchObject({ state: 'rejected', by: 'U-ann' });
    expect(await store.start(second, attempt('second'))).toMatchObject({ state: 'rejected', by: 'U-ann' });
  },
  'plan-chosen': async ({ store }) => {
    const { plan, first, second } = await askPlan(store);
    await store.vote(plan, approve('U-ann', { chosen: { steps: [2, 3], digest: 'digest-2' } }));
    expect(await store.start(first, attempt('first'))).toMatchObject({ state: 'rejected' });
    await run(store, second);
  },
  'plan-digest': async ({ store }) => {
    const { plan, first, second } = await askPlan(store, { listed: 'digest-9' });
    await store.vote(plan, approve('U-ann'));
    await run(store, first);
    expect(await store.start(second, attempt('second'))).toMatchObject({ state: 'superseded' });
  },
  'end-steps': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    const end = { state: 'succeeded', reason: '' } as const;
    expect(await store.end(plan, end)).toEqual({ outcome: 'not-due' });
    for (const step of [first, second, third]) await run(store, step);
    expect(await store.end(plan, end)).toEqual({ outcome: 'ended' });
    expect(await store.end(plan, end)).toEqual({ outcome: 'ended' });
  },
};
