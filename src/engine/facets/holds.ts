import type { HoldingFreeze } from '../../policy/freezes.ts';
import type { Freeze } from '../../store/port/workspace.ts';
import { findFreeze, holdingFreeze } from '../freezes.ts';
import { quietEnd } from '../quiet-end.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The freeze that keeps an approved action from starting; the script that starts it makes the check. */
export const freeze = {
  name: 'freeze',
  schema: NOTHING,
  readNow: async ({ request: { kind, state, threadId }, tool }, { store, toolbox }) => {
    if (kind !== 'approval' || (state !== 'pending' && state !== 'approved')) return undefined;
    const isQuick = state === 'pending';
    return (
      (await findFreeze(store, tool, threadId)) ??
      (await holdingFreeze(toolbox, toolbox.find(tool), { isQuick }))
    );
  },
} satisfies Facet<'freeze', never, Freeze | HoldingFreeze>;

/** The end of the quiet hours in which a request was made: until then nobody gets a direct message. */
export const quiet = {
  name: 'quiet',
  schema: NOTHING,
  readNow: ({ request, policy }, { toolbox }) =>
    request.views.some(({ place }) => place.user !== undefined)
      ? quietEnd(toolbox, request, policy, new Date(request.createdAt))
      : undefined,
} satisfies Facet<'quiet', never, number>;
