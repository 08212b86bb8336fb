import { expect } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import { approve, ask, askAndStart, attempt, MINUTE_MS, outcome } from '../support.ts';
import { askPlan } from './plans.ts';
import type { Scenarios } from './stage.ts';

async function askAndFinish(store: Store): Promise<string> {
  const requestId = await askAndStart(store);
  await store.finish(requestId, outcome('first'));
  return requestId;
}

async function found(store: Store, requestId: string) {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found') throw new Error('There is no such request');
  return loaded.request;
}

/** Guards of the undo of an action, which goes forward only. */
export const undoScenarios: Scenarios = {
  'note-undo-unknown': async ({ store }) => {
    expect(await store.noteUndo('T-none~none', 'asked')).toEqual({ outcome: 'unknown' });
  },
  'note-undo-plan': async ({ store }) => {
    const { plan, ...steps } = await askPlan(store);
    await store.vote(plan, approve('U-ann'));
    for (const step of [steps.first, steps.second, steps.third]) {
      await store.start(step, attempt(step));
      await store.finish(step, outcome(step));
    }
    expect(await store.noteUndo(plan, 'offered', {}, MINUTE_MS)).toEqual({ outcome: 'unknown' });
  },
  'note-undo-settled': async ({ store }) => {
    const requestId = await ask(store);
    expect(await store.noteUndo(requestId, 'asked')).toEqual({
      outcome: 'settled',
      state: 'pending',
      by: '',
    });
  },
  'note-undo-behind': async ({ store, resending }) => {
    const requestId = await askAndFinish(store);
    const { revision } = await found(store, requestId);
    await store.noteUndo(requestId, 'offered', {}, MINUTE_MS);
    await resending.noteUndo(requestId, 'linked', { by: 'U-rita', link: 'https://one' });
    expect(await store.noteUndo(requestId, 'asked', { by: 'U-ben' })).toEqual({ outcome: 'noted' });
    const undo = { step: 'linked', by: 'U-rita', link: 'https://one' };
    expect(await found(store, requestId)).toMatchObject({ undo, revision: revision + 1 });
  },
  'note-undo-due': async ({ store }) => {
    const requestId = await askAndFinish(store);
    expect(await store.noteUndo(requestId, 'over')).toEqual({ outcome: 'not-due' });
    await store.noteUndo(requestId, 'offered', {}, MINUTE_MS);
    expect(await store.noteUndo(requestId, 'over')).toEqual({ outcome: 'not-due' });
  },
};
