import type { RequestRecord } from '../../store/port/request-record.ts';
import { applyRevisions } from '../revisions.ts';
import { writtenAt } from '../task-people.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The last words of a requester that no turn has read, and the number of such messages before them. */
export interface WordsSince {
  readonly who: string;
  readonly text: string;
  readonly before: number;
}

/** The words of requesters since the call was made without them. */
export const since = {
  name: 'since',
  schema: NOTHING,
  readNow: async ({ request }, { store }) => {
    if (!canShowWords(request)) return undefined;
    const { inbox } = await store.readThread(request.threadId, { inboxOnly: true });
    const words = applyRevisions(inbox).messages.filter(
      ({ id, body }) =>
        request.requesters.includes(String(body.user)) &&
        writtenAt(id) !== undefined &&
        body.answers === undefined &&
        body.stops !== true &&
        String(body.text).trim() !== '',
    );
    const last = words.at(-1);
    return last && { who: String(last.body.user), text: String(last.body.text), before: words.length - 1 };
  },
} satisfies Facet<'since', never, WordsSince>;

/** Tells whether the card of a request says what its requesters have written since. */
export function canShowWords({ kind, state }: RequestRecord): boolean {
  return kind === 'approval' && state === 'pending';
}
