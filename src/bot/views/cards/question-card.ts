import type { ActionsBlock, Button, KnownBlock, PlainTextOption } from '@slack/types';
import { ANYONE } from '../../../policy/policy.ts';
import type { RequestRecord } from '../../../store/port/store.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, STATE_WORD } from '../texts/cards.ts';
import { deadline, words } from '../texts/format.ts';
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
import {
  button,
  type Card,
  type CardOptions,
  context,
  line,
  mentions,
  plain,
  preformatted,
  threadLine,
} from './card.ts';
import { type Question, questionOf } from './card-details.ts';
import { buildOutcome } from './outcome.ts';

/** Builds the card of a question: its choices as buttons or a menu, and later the answer and its author. */
export function buildQuestionCard(request: RequestRecord, options: CardOptions): Card {
  const question = questionOf(request);
  const shown = excerpt(question.question, {
    characters: limits.questionCharacters,
    lines: limits.questionLines,
  });
  const title = escapeMarkup(
    excerpt(question.question.trim() === '' ? cardTexts.aQuestion : question.question, {
      characters: limits.fallbackText,
      lines: Number.POSITIVE_INFINITY,
    }).text,
  );
  const asked: KnownBlock[] = [{ type: 'section', text: plain(shown.text) }];
  if (request.state !== 'pending')
    return {
      text: `${STATE_WORD[request.state]}: ${title}`,
      blocks: [...asked, ...buildOutcome(request, options), ...threadLine(options)],
    };
  const layout = layoutOf(question);
  const isWhole = shown.leftOut === 0 && layout !== 'modal';
  return {
    text: title,
    blocks: [
      principalsLine(cardTexts.question, request.principals),
      ...asked,
      ...(isWhole ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
      ...(layout === 'listed-menu' ? [preformatted(numbered(question.choices))] : []),
      context(words(cardTexts.waiting), words(cardTexts.expires), deadline(request.expiresAt)),
      ...choiceBlocks(request, question, { isWhole, view: options.view }),
      ...threadLine(options),
    ],
  };
}

/** Names the people who may answer; everybody is named in words. */
export function principalsLine(label: string, principals: readonly string[]): KnownBlock {
  const people = principals.includes(ANYONE) ? [words(cardTexts.anyone)] : mentions(principals);
  return line(words(label), ...people);
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
  const areShort = labels.every(({ length }) => length <= limits.optionText);
  const characters = labels.reduce((sum, { length }) => sum + length, 0);
  if (several && areShort && choices.length <= limits.checkboxes) return 'checkboxes';
  if (!several && areShort && choices.length <= limits.choiceButtons) return 'buttons';
  if (choices.length > limits.selectOptions || characters > limits.menuCharacters) return 'modal';
  if (areShort) return 'menu';
  return numbered(choices).length <= limits.choiceListCharacters ? 'listed-menu' : 'modal';
}

/** Builds options whose values are the numbers of the choices; if one is cut, all show their number in the list. */
export function optionsOf(choices: readonly string[]): PlainTextOption[] {
  const areShort = choices.every(
    (choice) =>
      choice.length <= limits.optionText &&
      showLabel(choice, Number.POSITIVE_INFINITY).length <= limits.optionText,
  );
  return choices.map((choice, index) => ({
    text: plain(
      areShort
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
