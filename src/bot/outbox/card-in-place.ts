import { z } from 'zod';
import { readShown, type ShownFacets } from '../../engine/facets/facets.ts';
import { readDetails } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { BotContext } from '../context.ts';
import { buildCard } from '../views/cards/build-card.ts';
import { type Card, type CardOptions, plain } from '../views/cards/card.ts';
import { placeText } from '../views/cards/card-details.ts';
import { buildEndedCopy, undoOfferMs } from '../views/cards/outcome.ts';
import { THREAD_VIEW } from '../views/view-ids.ts';

/** The place of a card: a thread, a channel or the direct message of a person. */
export const Place = z.object({
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  user: z.string().optional(),
  /** The approver for whom the person is asked. */
  for: z.string().optional(),
});
export type Place = z.infer<typeof Place>;

/** Reads what facets show of a request now, for one place of its card. */
export async function shownFor(
  context: BotContext,
  request: RequestRecord,
  viewId: string,
  place: Place,
): Promise<ShownFacets> {
  const { store, toolbox } = context;
  const { interrupt, policy, facets = {} } = readDetails(request) ?? {};
  const view = { isThread: viewId === THREAD_VIEW, standsFor: place.for };
  const tool = interrupt?.toolRequest.name ?? '';
  const approvers = facets.approvers?.people;
  return readShown({ request, tool, policy, approvers, view }, facets, { store, toolbox, undoOfferMs });
}

/** Builds the card of a request for one place: in the thread, announced in a channel, or as the copy of a person. */
export function cardFor(
  request: RequestRecord,
  viewId: string,
  place: Place,
  { threadLink, pageLink, ...beside }: Omit<CardOptions, 'view'>,
): Card {
  if (viewId === THREAD_VIEW) return numbered(request, buildCard(request, { view: 'thread', ...beside }));
  if (place.user !== undefined && request.kind === 'approval' && request.settledAt !== undefined)
    return buildEndedCopy(request, { view: 'direct', threadLink, pageLink, ...beside });
  const view = place.user === undefined ? 'announcement' : 'direct';
  return numbered(request, buildCard(request, { view, threadLink, pageLink, ...beside }));
}

/** Says below the title which of the requests of its turn a card is, while it waits. */
function numbered(request: RequestRecord, card: Card): Card {
  const [title, ...rest] = card.blocks;
  const number = placeText(request);
  if (number === undefined || title === undefined || request.state !== 'pending') return card;
  return { ...card, blocks: [title, { type: 'context', elements: [plain(number)] }, ...rest] };
}
