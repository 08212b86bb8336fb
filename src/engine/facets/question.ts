import { toJson } from '../../agent/json.ts';
import { askOf } from '../../tools/pause.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The question that a tool asks in the middle of its call. */
export const question = {
  name: 'question',
  schema: NOTHING,
  digested: (_kept, interrupt) => {
    const ask = askOf(interrupt);
    return { ask: ask && toJson(ask) };
  },
} satisfies Facet<'question', never>;
