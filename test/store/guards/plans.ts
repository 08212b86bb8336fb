import { expect } from 'vitest';
import { threadOf } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
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
  withdrawal,
} from '../support.ts';
import type { Scenarios } from './stage.ts';

interface OpenPlan {
  readonly plan: string;
  readonly first: string;
  readonly second: string;
  readonly third: string;
}

/** Opens a plan of three steps, of which one may be asked by itself too; each may be tried again. */
export async function askPlan(store: Store, { alone }: { readonly alone?: 2 | 3 } = {}): Promise<OpenPlan> {
  const threadId = newThreadId();
  const [plan, first, second, third] = [1, 2, 3, 4].map(() =>
    newRequest(threadId, { execution: { idempotent: true } }),
  );
  if (plan === undefined || first === undefined || second === undefined || third === undefined)
    throw new Error('A request is missing');
  const steps = [first, second, third].map((request, index) => ({
    ...request,
    step: { plan: plan.id, number: index + 1, alone: index + 1 === alone },
  }));
  const listed = steps.map(({ id, digest, step }) => ({
    id,
    digest,
    ...(step.alone && { alone: true as const }),
  }));
  const turn = await beginTurn(store, threadId);
  await suspendTurn(store, turn, { requests: [{ ...plan, steps: listed }, ...steps] });
  return { plan: plan.id, first: first.id, second: second.id, third: third.id };
}

async function run(store: Store, requestId: string, state: 'succeeded' | 'failed' = 'succeeded') {
  expect(await store.start(requestId, attempt(requestId))).toMatchObject({ outcome: 'started' });
  await store.finish(requestId, outcome(requestId, { state }));
}

const NOT_NEXT = { outcome: 'not-next' };
const HELD = { state: 'superseded', reason: 'edited' } as const;

/** Guards of plans and their steps. */
export const planScenarios: Scenarios = {
  'vote-step': async ({ store }) => {
    const { first } = await askPlan(store);
    expect(await store.vote(first, approve('U-ann'))).toEqual({ outcome: 'not-an-approval' });
  },
  'start-plan': async ({ store }) => {
    const { plan } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    expect(await store.start(plan, attempt('plan'))).toEqual({ outcome: 'unknown' });
  },
  'start-planned': async ({ store }) => {
    const { plan, first, second } = await askPlan(store, { alone: 2 });
    await store.vote(second, approve('U-ann'));
    await store.vote(plan, approve('U-ann'));
    expect(await store.start(second, attempt('second'))).toEqual(NOT_NEXT);
    await run(store, first);
    await run(store, second);
  },
  'plan-approved': async ({ store }) => {
    const { plan, first, second } = await askPlan(store, { alone: 2 });
    await store.vote(second, approve('U-ann'));
    expect(await store.start(first, attempt('first'))).toEqual(NOT_NEXT);
    await store.vote(plan, approve('U-ben'));
    await run(store, first);
    // What people said of the plan, they said of its step.
    expect((await found(store, first)).votes).toMatchObject([{ who: 'U-ben', decision: 'approve' }]);
  },
  'plan-ended': async ({ store }) => {
    const { plan, first, second } = await askPlan(store);
    await store.vote(plan, reject('U-ann', { reason: 'Too early' }));
    for (const step of [first, second])
      expect(await found(store, step)).toMatchObject({
        state: 'rejected',
        by: 'U-ann',
        payload: 'Too early',
      });
  },
  'plan-held': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    await store.end(third, HELD);
    for (const request of [plan, first, second])
      expect(await found(store, request)).toMatchObject({ state: 'superseded', payload: 'held' });
  },
  'plan-tried': async ({ store }) => {
    const { plan, first, second } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    await store.start(first, attempt('first', { heartbeatTimeoutMs: 0 }));
    await store.recover(first);
    await store.end(plan, withdrawal('U-rita'));
    expect(await stateOf(store, second)).toBe('withdrawn');
    expect(await stateOf(store, first)).toBe('approved');
  },
  'plan-busy': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store, { alone: 3 });
    await store.vote(plan, approve('U-ann'));
    await store.start(first, attempt('first'));
    // No reason that a person gives lets the rest go on.
    await store.vote(third, reject('U-ann', { reason: 'not-chosen' }));
    expect(await stateOf(store, second)).toBe('superseded');
    expect(await stateOf(store, plan)).toBe('approved');
    await store.finish(first, outcome('first'));
    expect(await stateOf(store, plan)).toBe('superseded');
  },
  'plan-waiting': async ({ store }) => {
    const { plan, first, third } = await askPlan(store, { alone: 3 });
    await store.vote(plan, approve('U-ann'));
    await store.start(first, attempt('first'));
    await store.vote(third, approve('U-ann'));
    expect(await stateOf(store, first)).toBe('started');
  },
  'plan-chosen': async ({ store }) => {
    const { plan, first, second, third } = await askPlan(store);
    await store.vote(plan, approve('U-ann', { chosen: { steps: [2, 3], digest: 'digest-2' } }));
    expect(await found(store, first)).toMatchObject({ state: 'rejected', payload: 'not-chosen' });
    await run(store, second);
    await run(store, third);
    expect(await stateOf(store, plan)).toBe('succeeded');
  },
  'plan-alone': async ({ store }) => {
    const { plan, first, second } = await askPlan(store, { alone: 2 });
    await store.vote(plan, approve('U-ann'));
    await run(store, first);
    expect(await store.start(second, attempt('second'))).toEqual(NOT_NEXT);
    await store.vote(second, approve('U-ann'));
    await run(store, second);
  },
  'purge-step': async ({ fleeting }) => {
    const { plan, first } = await askPlan(fleeting);
    await fleeting.vote(plan, reject('U-ann'));
    await suspendTurn(fleeting, await takeTurn(fleeting, threadOf(plan) ?? ''));
    expect(await fleeting.purge(first)).toEqual({ outcome: 'not-due' });
    expect(await fleeting.purge(plan)).toEqual({ outcome: 'purged' });
    expect(await fleeting.load(first)).toEqual({ outcome: 'unknown' });
  },
};
