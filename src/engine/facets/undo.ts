import { z } from 'zod';
import { REVERSIBLE } from '../../policy/reversible.ts';
import type { Facet } from './facet.ts';

const Undo = z.object({
  /** Whether the call, and each call inside it that waits, can be taken back. */
  reversible: z.enum(REVERSIBLE),
  /** The time after its success in which the action can be undone; missing if nothing undoes it. */
  withinMs: z.number().optional(),
});

/** Whether an action can be taken back, and for how long Undo is offered. */
export const undo = {
  name: 'undo',
  schema: Undo,
  isOfStep: true,
  prepare: ({ approval, entry }) => {
    if (approval === undefined) return undefined;
    const { reversible } = approval;
    const withinMs = reversible === 'no' ? undefined : entry?.undo?.withinMs;
    return { reversible, ...(withinMs !== undefined && { withinMs }) };
  },
  digested: (kept) => ({ reversible: kept?.reversible }),
  auditFields: (_asked, kept) => (kept === undefined ? {} : { reversible: kept.reversible }),
} satisfies Facet<'undo', z.infer<typeof Undo>>;
