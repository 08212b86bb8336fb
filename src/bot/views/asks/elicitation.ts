import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { acceptedValue, type Elicitation, elicitationOf } from '../../../tools/mcp/server-pause.ts';
import { limits } from '../../slack/limits.ts';
import { DECLINE, FILL_IN } from '../cards/action-ids.ts';
import { button, type Card, type CardOptions, line } from '../cards/card.ts';
import type { CardDetails } from '../cards/card-details.ts';
import { drawForm, exactPurpose, hostOf } from '../cards/form-card.ts';
import { peopleOf } from '../cards/question-card.ts';
import { URL_MODAL } from '../modals/decision-modals.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { showLabel } from '../texts/show-text.ts';
import type { AskKind } from './ask-kind.ts';
import { form } from './form.ts';

/** A question of a call's server: a form, or an address that a person opens. */
export const elicitation: AskKind = {
  name: 'elicitation',
  recordedAs: 'form',
  isOf: (interrupt) => elicitationOf(interrupt) !== undefined,
  card: (request, details, options) =>
    details.pause === undefined
      ? form.card(request, details, options)
      : buildElicitationCard(request, details, details.pause, options),
  exact: exactPurpose,
  buttons: [{ id: DECLINE, decide: () => ({ type: 'decline' }) }],
  modals: [{ id: URL_MODAL, read: () => ({ ok: true, value: { type: 'answer', value: acceptedValue() } }) }],
};

/** Builds the card of a server's question: which server asks, in which call, what for, and who can answer. */
function buildElicitationCard(
  request: RequestRecord,
  { purpose = '', presented, facets: { answers } }: CardDetails,
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
    ...(answers !== undefined && request.state === 'pending'
      ? [line(words(cardTexts.yourAnswer[answers]))]
      : []),
  ];
  return drawForm(request, purpose, options, {
    heading: cardTexts.inputNeeded,
    text: cardTexts.inputNeededFor,
    asked,
    waiting: [words(cardTexts.answerBy), ...peopleOf(request.principals)],
    actions: [
      button(request.id, FILL_IN, isUrl ? cardTexts.openLink : cardTexts.fillIn, { style: 'primary' }),
      button(request.id, DECLINE, cardTexts.decline),
    ],
  });
}
