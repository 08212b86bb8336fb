import { z } from 'zod';
import type { Facet } from './facet.ts';

const Approvers = z.object({
  /** The people who could approve when the request was made. */
  people: z.array(z.string()).readonly(),
  /** The status of approvers when the request was made, by person; for show only. */
  statuses: z.record(z.string(), z.string()).readonly().optional(),
});

/** The people who could approve when the request was made; missing if the workspace could not be asked. */
export const approvers = {
  name: 'approvers',
  schema: Approvers,
  prepare: async ({ approval }, { statusesOf }) => {
    const people = approval?.approvers;
    if (people === undefined) return undefined;
    const statuses = await statusesOf(people);
    return { people, ...(statuses !== undefined && { statuses }) };
  },
} satisfies Facet<'approvers', z.infer<typeof Approvers>>;
