import { type Facet, NOTHING } from './facet.ts';

/** The approver for whom the person of a direct message is asked. */
export const delegation = {
  name: 'delegation',
  schema: NOTHING,
  readNow: ({ view }) => view.standsFor,
} satisfies Facet<'delegation', never, string>;
