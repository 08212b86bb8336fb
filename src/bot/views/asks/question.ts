import type { BlockAction } from '@slack/bolt';
import { askOf } from '../../../tools/pause.ts';
import { ANSWER, CHOOSE, CHOOSE_FROM_MENU, CHOOSE_SEVERAL, SUBMIT_CHOICES } from '../cards/action-ids.ts';
import { questionOf } from '../cards/card-details.ts';
import { buildQuestionCard, numbered } from '../cards/question-card.ts';
import { buildAnswerModal, parseAnswer } from '../modals/decision-modals.ts';
import { ANSWER_MODAL } from '../modals/modal.ts';
import { modalTexts } from '../texts/modals.ts';
import { showText } from '../texts/show-text.ts';
import { type AskKind, toDecision } from './ask-kind.ts';

/** A question with choices, or one that is answered in words. */
export const question: AskKind = {
  name: 'question',
  recordedAs: 'question',
  isOf: (interrupt) => askOf(interrupt) !== undefined,
  card: (request, _details, options) => buildQuestionCard(request, options),
  exact: (request) => {
    const { message, choices } = questionOf(request);
    return [
      { label: modalTexts.question, text: showText(message) },
      { label: modalTexts.choices, text: numbered(choices) },
    ];
  },
  buttons: [
    {
      id: new RegExp(`^${CHOOSE}:\\d+$`),
      decide: ({ action_id }) => ({ type: 'choose', picked: [Number(action_id.slice(CHOOSE.length + 1))] }),
    },
    {
      id: CHOOSE_FROM_MENU,
      decide: (action) => ({
        type: 'choose',
        picked: action.type === 'static_select' ? [Number(action.selected_option.value)] : [],
      }),
    },
    { id: SUBMIT_CHOICES, decide: (_action, body) => ({ type: 'choose', picked: pickedIn(body) }) },
    { id: ANSWER, open: buildAnswerModal },
  ],
  modals: [
    {
      id: ANSWER_MODAL,
      read: (request, values) =>
        toDecision(parseAnswer(request, values), (value) => ({ type: 'answer', value })),
    },
  ],
};

function pickedIn(body: BlockAction): number[] {
  return Object.values(body.state?.values ?? {})
    .flatMap((block) => Object.entries(block))
    .filter(([id]) => id === CHOOSE_SEVERAL)
    .flatMap(([, input]) => input.selected_options ?? [])
    .map(({ value }) => Number(value));
}
