import type { RequestRecord } from '../../store/port/request-record.ts';
import { PlannedSteps } from '../planned-steps.ts';
import type { Facet } from './facet.ts';

/** The steps of which some can be undone now, and those that were. */
export interface UndoneSteps {
  readonly offered: readonly string[];
  readonly undone: readonly string[];
}

/** The steps of a plan. */
export const plan = {
  name: 'plan',
  schema: PlannedSteps,
  prepare: ({ approval }) => approval?.part?.plan?.shown,
  readNow: async ({ request, view }, { store, undoOfferMs }) => {
    const done = view.isThread ? (request.steps ?? []).filter(({ state }) => state === 'succeeded') : [];
    if (done.length === 0) return undefined;
    const loaded = await Promise.all(done.map(({ id }) => store.load(id)));
    const requests = loaded.flatMap((each) => (each.outcome === 'found' ? [each.request] : []));
    const offered: RequestRecord[] = [];
    for (const step of requests) {
      const offeredMs = undoOfferMs(step);
      if (offeredMs === undefined) continue;
      offered.push(step);
      // The time in which each can be undone begins; the card of the plan offers it.
      if (step.undo === undefined) await store.noteUndo(step.id, 'offered', {}, offeredMs);
    }
    const undone = requests.filter(({ undo }) => undo?.isDone === true);
    return { offered: offered.map(({ id }) => id), undone: undone.map(({ id }) => id) };
  },
} satisfies Facet<'plan', PlannedSteps, UndoneSteps>;
