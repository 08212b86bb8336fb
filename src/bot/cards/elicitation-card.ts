import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import type { Elicitation } from '../../tools/mcp/server-pause.ts';
import { parseAnswerValue } from '../elicitation/answer-value.ts';
import { hostOf } from '../elicitation/url-modal.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts, STATE_ICON } from '../texts/cards.ts';
import { DECLINE, FILL_IN } from './action-ids.ts';
import { button, type Card, type CardOptions, line, words } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { drawForm } from './form-card.ts';
import { principalsLine } from './question-card.ts';
import { showLabel } from './values/show-text.ts';

/** Builds the card of a server's question: which server asks, in which call, what for, and who can answer. */
export function buildElicitationCard(
  request: RequestRecord,
  { purpose = '', presented }: CardDetails,
  pause: Elicitation,
  options: CardOptions,
): Card {
  const { server, question, call } = pause;
  const isUrl = question.mode === 'url';
  const asked: KnownBlock[] = [
    line(
      words(cardTexts.serverAsks(showLabel(server, limits.label)), { bold: true }),
      words(cardTexts.forCall(showLabel(presented.title, limits.label))),
    ),
    ...(isUrl ? [line(words(cardTexts.opens), words(hostOf(question.url), { bold: true }))] : []),
    ...(call.protocol === 'older' && request.state === 'pending' ? [line(words(cardTexts.startsAgain))] : []),
  ];
  const isDeclined = parseAnswerValue(request.payload)?.action === 'decline';
  return drawForm(request, purpose, options, {
    heading: cardTexts.inputNeeded,
    text: cardTexts.inputNeededFor,
    asked,
    ...(isDeclined && { ended: cardTexts.declinedWord, icon: STATE_ICON.rejected }),
    waiting: principalsLine(cardTexts.answerBy, request.principals),
    actions: [
      button(request.id, FILL_IN, isUrl ? cardTexts.openLink : cardTexts.fillIn, { style: 'primary' }),
      button(request.id, DECLINE, cardTexts.decline),
    ],
  });
}
