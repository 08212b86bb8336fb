import { toJson } from '../../agent/json.ts';
import { innerCalls } from '../inner-calls.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The calls inside a call that wait in its place. */
export const inner = {
  name: 'inner',
  schema: NOTHING,
  digested: (_kept, interrupt) => {
    const calls = innerCalls(interrupt);
    return { inner: calls && toJson(calls) };
  },
  auditFields: (asked) => (asked.inner === undefined ? {} : { inner: toJson(asked.inner) }),
} satisfies Facet<'inner', never>;
