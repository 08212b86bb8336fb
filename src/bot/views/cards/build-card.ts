import type { RequestRecord } from '../../../store/port/request-record.ts';
import { askKindOf } from '../asks/ask-kinds.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { REJECT, WITHDRAW } from './action-ids.ts';
import { button, type Card, type CardOptions, line, requesterNames } from './card.ts';
import { cardDetailsOf } from './card-details.ts';
import { buildOutcome } from './outcome.ts';

/** Builds the card of a request from its current record alone, as its kind does. */
export function buildCard(request: RequestRecord, options: CardOptions): Card {
  const details = cardDetailsOf(request);
  if (details === undefined) return buildUnreadableCard(request, options);
  return askKindOf(request, details.interrupt).card(request, details, options);
}

/** Builds the card of an unreadable request, which can be ended but not approved. */
function buildUnreadableCard(request: RequestRecord, options: CardOptions): Card {
  const text = cardTexts.unreadable;
  const actions = [
    ...(request.kind === 'approval' ? [button(request.id, REJECT, cardTexts.reject)] : []),
    button(request.id, WITHDRAW, cardTexts.withdraw),
  ];
  return {
    text,
    blocks: [
      line(words(text)),
      line(words(cardTexts.requestedBy), ...requesterNames(request.requesters)),
      ...(request.state === 'pending'
        ? [{ type: 'actions' as const, elements: actions }]
        : buildOutcome(request, options)),
    ],
  };
}
