import type { ActionsBlock, Button, KnownBlock, PlainTextOption, RichTextElement } from '@slack/types';
import { ANYONE } from '../../../policy/policy.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Question } from '../../../tools/pause.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { moment, words } from '../texts/format.ts';
import { escapeMarkup, excerpt, showLabel } from '../texts/show-text.ts';
import {
  ANSWER,
  CHOOSE,
  CHOOSE_FROM_MENU,
  CHOOSE_SEVERAL,
  DETAILS,
  SUBMIT_CHOICES,
  WITHDRAW,
} from './action-ids.ts';
import { buildFields, fitsHeading } from './call-body.ts';
import {
  button,
  type Card,
  type CardOptions,
  context,
  heading,
  line,
  mentions,
  plain,
  preformatted,
  requesterNames,
  threadLine,
} from './card.ts';
import { type CardDetails, cardDetailsOf, questionOf, stateOf } from './card-details.ts';
import { buildOutcome } from './outcome.ts';

/** Builds the card of a question: its choices as buttons or a menu, and later the answer and its author. */
export function buildQuestionCard(request: RequestRecord, options: CardOptions): Card {
  const question = questionOf(request);
  const shown = excerpt(question.message, {
    characters: limits.questionCharacters,
    lines: limits.questionLines,
  });
  const title = escapeMarkup(
    excerpt(question.message.trim() === '' ? cardTexts.aQuestion : question.message, {
      characters: limits.fallbackText,
      lines: Number.POSITIVE_INFINITY,
    }).text,
  );
  const details = cardDetailsOf(request);
  const about = details === undefined ? [] : aboutCall(details);
  const isHeading = fitsHeading(question.message);
  const whole: KnownBlock[] = isHeading ? [] : [{ type: 'section', text: plain(shown.text) }];
  const { icon, word } = stateOf(request);
  if (request.state !== 'pending')
    return {
      text: `${word}: ${title}`,
      blocks: [
        ...(isHeading ? [line(words(`${icon} `), words(shown.text, { bold: true }))] : whole),
        ...buildOutcome(request, options),
        ...threadLine(options),
      ],
    };
  const layout = layoutOf(question);
  const isWhole = shown.leftOut === 0 && layout !== 'modal';
  return {
    text: title,
    blocks: [
      isHeading ? heading(question.message) : heading(cardTexts.aQuestion),
      ...whole,
      context(
        words(cardTexts.waiting),
        words(cardTexts.question),
        ...peopleOf(request.principals),
        ...from(request, details),
        words(` · ${cardTexts.until}`),
        moment(request.expiresAt),
      ),
      ...about,
      ...(isWhole ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
      ...(layout === 'listed-menu' ? [preformatted(numbered(question.choices))] : []),
      ...choiceBlocks(request, question, { isWhole, view: options.view }),
      ...threadLine(options),
    ],
  };
}

/** Shows of the call that a question is about what the question itself does not say. */
function aboutCall({ ask, presented }: CardDetails): KnownBlock[] {
  const isOwn = ask?.reply === 'restart';
  const fields = presented.fields.filter(
    ({ argument }) => isOwn || argument === undefined || !ASKED_ARGUMENTS.includes(argument),
  );
  return buildFields(fields).blocks;
}

/** Says who asks, and for whom if that is somebody else than the people asked. */
function from(
  { requesters, principals }: RequestRecord,
  details: CardDetails | undefined,
): RichTextElement[] {
  const own = details?.ask?.reply === 'restart' ? details.name : undefined;
  const lead =
    own === undefined ? cardTexts.fromAgent : cardTexts.fromTool(showLabel(readableName(own), limits.label));
  const isForOthers = requesters.some((id) => !principals.includes(id));
  return [words(lead), ...(isForOthers ? [words(cardTexts.onBehalfOf), ...requesterNames(requesters)] : [])];
}

/** The arguments of an interrupt that are the question itself. */
const ASKED_ARGUMENTS = [
  'question',
  'message',
  'prompt',
  'title',
  'text',
  'choices',
  'allowOther',
  'allow_other',
  'several',
];

/** Names the people who may answer; everybody is named in words. */
export function peopleOf(principals: readonly string[]): RichTextElement[] {
  return principals.includes(ANYONE) ? [words(cardTexts.anyone)] : mentions(principals);
}

function choiceBlocks(
  { id }: RequestRecord,
  question: Question,
  { isWhole, view }: { readonly isWhole: boolean; readonly view: CardOptions['view'] },
): KnownBlock[] {
  const more: Button[] = [
    ...(question.allowOther ? [button(id, ANSWER, cardTexts.other)] : []),
    ...(isWhole ? [] : [button(id, DETAILS, cardTexts.details)]),
    ...(view === 'thread' ? [button(id, WITHDRAW, cardTexts.withdraw)] : []),
  ];
  const row = (...elements: ActionsBlock['elements']): KnownBlock[] =>
    elements.length === 0 ? [] : [{ type: 'actions', elements }];
  const submit = button(id, SUBMIT_CHOICES, cardTexts.submit, { style: 'primary' });
  const options = optionsOf(question.choices);
  switch (layoutOf(question)) {
    case 'buttons':
      return [
        ...row(
          ...question.choices.map((choice, index) =>
            button(id, `${CHOOSE}:${index}`, showLabel(choice, limits.buttonText)),
          ),
        ),
        ...row(...more),
      ];
    case 'checkboxes':
      return [
        {
          type: 'actions',
          block_id: id,
          elements: [{ type: 'checkboxes', action_id: CHOOSE_SEVERAL, options }, submit],
        },
        ...row(...more),
      ];
    case 'menu':
    case 'listed-menu': {
      const placeholder = plain(cardTexts.choose);
      const menu: ActionsBlock['elements'] = question.several
        ? [{ type: 'multi_static_select', action_id: CHOOSE_SEVERAL, placeholder, options }, submit]
        : [{ type: 'static_select', action_id: CHOOSE_FROM_MENU, placeholder, options }];
      return [{ type: 'actions', block_id: id, elements: menu }, ...row(...more)];
    }
    case 'none':
    case 'modal':
      return row(
        button(id, ANSWER, cardTexts.answerButton, { style: 'primary' }),
        ...more.filter(({ action_id }) => action_id !== ANSWER),
      );
  }
}

/** The control for the choices of a question; a menu with cut options is shown below the full list. */
type ChoiceLayout = 'none' | 'buttons' | 'checkboxes' | 'menu' | 'listed-menu' | 'modal';

/** Picks buttons for few short choices, then a menu, and a modal if a message has no room. */
function layoutOf({ choices, several }: Question): ChoiceLayout {
  if (choices.length === 0) return 'none';
  // Nothing is shown shorter than it is.
  if (choices.join('').length > limits.menuCharacters) return 'modal';
  const labels = choices.map((choice) => showLabel(choice, Number.POSITIVE_INFINITY));
  const isShort = areShort(choices);
  const characters = labels.reduce((sum, { length }) => sum + length, 0);
  if (several && isShort && choices.length <= limits.checkboxes) return 'checkboxes';
  if (!several && isShort && choices.length <= limits.choiceButtons) return 'buttons';
  if (choices.length > limits.selectOptions || characters > limits.menuCharacters) return 'modal';
  if (isShort) return 'menu';
  return numbered(choices).length <= limits.choiceListCharacters ? 'listed-menu' : 'modal';
}

/** Tells whether every choice can be read whole on a button or in a menu. */
export function areShort(choices: readonly string[]): boolean {
  return choices.every(
    (choice) =>
      choice.length <= limits.optionText &&
      showLabel(choice, Number.POSITIVE_INFINITY).length <= limits.optionText,
  );
}

/** Builds options whose values are the numbers of the choices; if one is cut, all show their number in the list. */
export function optionsOf(choices: readonly string[]): PlainTextOption[] {
  const isWhole = areShort(choices);
  return choices.map((choice, index) => ({
    text: plain(
      isWhole
        ? showLabel(choice, limits.optionText)
        : showLabel(`${index + 1}. ${choice}`, limits.optionText),
    ),
    value: String(index),
  }));
}

/** Lists the choices in full, one numbered line each. */
export function numbered(choices: readonly string[]): string {
  return choices
    .map((choice, index) => `${index + 1}. ${showLabel(choice, Number.POSITIVE_INFINITY)}`)
    .join('\n');
}

/** Returns the choices of the selected values, in the question's order; `undefined` for an unknown value. */
export function choicesOfOptions(request: RequestRecord, values: readonly string[]): string[] | undefined {
  const { choices } = questionOf(request);
  if (!values.every((value) => /^\d+$/.test(value) && Number(value) < choices.length)) return undefined;
  return choices.filter((_, index) => values.includes(String(index)));
}
