import type { ActionsBlock, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, confirmTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { excerpt, showLabel } from '../texts/show-text.ts';
import { CHOOSE, CHOOSE_FROM_MENU } from './action-ids.ts';
import { button, context, line, plain, preformatted, quoted } from './card.ts';
import { type CardDetails, needsConfirmation } from './card-details.ts';
import { areShort, numbered, optionsOf } from './question-card.ts';

/** The question of a tool in the middle of its call, as a card shows it. */
export interface OwnQuestion {
  readonly blocks: KnownBlock[];
  /** Whether all of it is shown. */
  readonly isWhole: boolean;
}

/** Quotes what a tool asks, as its words and nobody else's; none where the tool says nothing. */
export function buildOwnQuestion({ ask, name }: CardDetails): OwnQuestion {
  const message = ask?.reply === 'restart' ? ask.message : '';
  if (message === '') return { blocks: [], isWhole: true };
  const room = { characters: limits.quoteCharacters, lines: limits.quoteLines };
  const isWhole = excerpt(message, room).leftOut === 0;
  const label = cardTexts.toolAsks(showLabel(readableName(name), limits.label));
  return {
    blocks: [
      quoted(label, message, room),
      ...(isWhole ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
    ],
    isWhole,
  };
}

/** Lists the choices that approvers vote on; none where they say yes or no. */
function choicesOf({ ask }: CardDetails): readonly string[] {
  return ask?.way.kind === 'choice' ? ask.way.choices.map(({ label }) => label) : [];
}

/** Says what approvers have chosen so far, and lists choices that a button would cut. */
export function choiceLines(request: RequestRecord, details: CardDetails): KnownBlock[] {
  const choices = choicesOf(details);
  const chosen = choices[(request.chosen?.[0] ?? 0) - 1];
  return [
    ...(choices.length === 0 || areShort(choices) ? [] : [preformatted(numbered(choices))]),
    ...(chosen === undefined
      ? []
      : [context(words(cardTexts.chosenSoFar), words(showLabel(chosen, limits.label), { bold: true }))]),
  ];
}

/** Builds what approvers choose with: a button for each of few short choices, or a menu; `undefined` where they say yes or no. */
export function choiceElements(
  requestId: string,
  details: CardDetails,
): ActionsBlock['elements'] | undefined {
  const choices = choicesOf(details);
  if (choices.length === 0) return undefined;
  const { title, text, ...act } = confirmTexts.approve(
    showLabel(details.presented.title, limits.confirmText - 60),
  );
  const confirm = needsConfirmation(details) && {
    confirm: { title: plain(title), text: plain(text), confirm: plain(act.confirm), deny: plain(act.deny) },
  };
  if (areShort(choices) && choices.length <= limits.choiceButtons)
    return choices.map((choice, index) =>
      button(requestId, `${CHOOSE}:${index}`, showLabel(choice, limits.buttonText), { ...confirm }),
    );
  return [
    {
      type: 'static_select',
      action_id: CHOOSE_FROM_MENU,
      placeholder: plain(cardTexts.choose),
      options: optionsOf(choices),
      ...confirm,
    },
  ];
}
