import type { OutboxRow, RequestRecord } from '../../store/port/store.ts';
import { titleOf } from '../cards/card-details.ts';
import { placeIn } from '../slack/thread.ts';

/** Builds a notice about a request with an id per occasion, so that the next reminder is a new message and a resent one is not. */
export function titledRow(
  request: RequestRecord,
  kind: string,
  { lead, tail }: { readonly lead: string; readonly tail: string },
  people: readonly string[],
  occasion = Date.now(),
): OutboxRow {
  const place = placeIn(request.threadId);
  const title = titleOf(request);
  return {
    id: `${request.id}/${kind}/${occasion}`,
    body: { kind: 'titled', ...place, text: lead, title, tail, people: [...people] },
  };
}
