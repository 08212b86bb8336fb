import type { ActionsBlock, Button, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { ANYONE } from '../decisions/authorize.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts, STATE_WORD } from '../texts/cards.ts';
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
  line,
  mentions,
  moment,
  plain,
  preformatted,
  threadLine,
  words,
} from './card.ts';
import { type Question, questionOf } from './card-details.ts';
import { layoutOf, numbered, optionsOf } from './choices.ts';
import { buildOutcome } from './outcome.ts';
import { cut, escapeMarkup, excerpt, showLabel, showText } from './show-text.ts';

/** Builds the card of a question: its choices as buttons or a menu, and later the answer and its author. */
export function buildQuestionCard(request: RequestRecord, options: CardOptions): Card {
  const question = questionOf(request);
  const shown = excerpt(question.question, {
    characters: limits.questionCharacters,
    lines: limits.questionLines,
  });
  const title = escapeMarkup(
    cut(
      showText(question.question.trim() === '' ? cardTexts.aQuestion : question.question),
      limits.fallbackText,
    ),
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
      line(words(cardTexts.expires), moment(request.expiresAt)),
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
