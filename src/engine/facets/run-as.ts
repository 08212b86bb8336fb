import { z } from 'zod';
import { NOBODY } from '../task-people.ts';
import type { Facet } from './facet.ts';

const RunsAs = z.object({ person: z.string(), server: z.string() });

/** The person in whose name a call runs at a server. */
export const runsAs = {
  name: 'runsAs',
  schema: RunsAs,
  isOfStep: true,
  prepare: ({ entry, origin: { requesters } }) => {
    const server = entry?.runsAsRequester?.name;
    return server === undefined ? undefined : { person: requesters[0] ?? NOBODY, server };
  },
  digested: (kept) => ({ runs_as: kept?.person }),
  auditFields: (_asked, kept) => (kept === undefined ? {} : { runs_as: kept.person }),
} satisfies Facet<'runsAs', z.infer<typeof RunsAs>>;
