import type { RequestRecord } from '../../store/port/store.ts';
import { cardTexts } from '../texts/cards.ts';
import { REJECT, WITHDRAW } from './action-ids.ts';
import { buildApprovalCard } from './approval-card.ts';
import { button, type Card, type CardOptions, line, mentions, words } from './card.ts';
import { cardDetailsOf } from './card-details.ts';
import { buildElicitationCard } from './elicitation-card.ts';
import { buildCallbackCard, buildConsentCard, buildFormCard } from './form-card.ts';
import { buildOutcome } from './outcome.ts';
import { buildQuestionCard } from './question-card.ts';

/** Builds the card of a request from its current record alone. */
export function buildCard(request: RequestRecord, options: CardOptions): Card {
  const details = cardDetailsOf(request);
  if (details === undefined) return buildUnreadableCard(request, options);
  switch (request.kind) {
    case 'approval':
      return buildApprovalCard(request, details, options);
    case 'question':
      return buildQuestionCard(request, options);
    case 'form':
      if (details.consent !== undefined) return buildConsentCard(request, details, options);
      return details.pause === undefined
        ? buildFormCard(request, details, options)
        : buildElicitationCard(request, details, details.pause, options);
    case 'callback':
      return buildCallbackCard(request, details, options);
  }
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
      line(words(cardTexts.requestedBy), ...mentions(request.requesters)),
      ...(request.state === 'pending'
        ? [{ type: 'actions' as const, elements: actions }]
        : buildOutcome(request, options)),
    ],
  };
}
