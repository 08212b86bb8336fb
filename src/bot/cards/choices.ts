import type { PlainTextOption } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { plain } from './card.ts';
import { type Question, questionOf } from './card-details.ts';
import { showLabel } from './show-text.ts';

/** How the choices of a question are offered; a menu whose options are cut stands below the list of them whole. */
export type ChoiceLayout = 'none' | 'buttons' | 'checkboxes' | 'menu' | 'listed-menu' | 'modal';

/** Buttons while they are few and short, then a menu, and a modal where a message has no room for one. */
export function layoutOf({ choices, several }: Question): ChoiceLayout {
  if (choices.length === 0) return 'none';
  const labels = choices.map((choice) => showLabel(choice, Number.POSITIVE_INFINITY));
  const areShort = labels.every(({ length }) => length <= limits.optionText);
  const characters = labels.reduce((sum, { length }) => sum + length, 0);
  if (several && areShort && choices.length <= limits.checkboxes) return 'checkboxes';
  if (!several && areShort && choices.length <= limits.choiceButtons) return 'buttons';
  if (choices.length > limits.selectOptions || characters > limits.menuCharacters) return 'modal';
  if (areShort) return 'menu';
  return numbered(choices).length <= limits.choiceListCharacters ? 'listed-menu' : 'modal';
}

/** The choices as options whose values are their numbers; where one is cut, all carry the number they have in the list. */
export function optionsOf(choices: readonly string[]): PlainTextOption[] {
  const areShort = choices.every(
    (choice) => showLabel(choice, Number.POSITIVE_INFINITY).length <= limits.optionText,
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

/** The choices whole, one numbered line each. */
export function numbered(choices: readonly string[]): string {
  return choices
    .map((choice, index) => `${index + 1}. ${showLabel(choice, Number.POSITIVE_INFINITY)}`)
    .join('\n');
}

/** The choices that the values of chosen options stand for, in the question's order; a foreign value gives `undefined`. */
export function choicesOfOptions(request: RequestRecord, values: readonly string[]): string[] | undefined {
  const { choices } = questionOf(request);
  if (!values.every((value) => /^\d+$/.test(value) && Number(value) < choices.length)) return undefined;
  return choices.filter((_, index) => values.includes(String(index)));
}
