import type { PlainTextOption } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { plain } from './card.ts';
import { type Question, questionOf } from './card-details.ts';
import { showLabel } from './values/show-text.ts';

/** The control for the choices of a question; a menu with cut options is shown below the full list. */
export type ChoiceLayout = 'none' | 'buttons' | 'checkboxes' | 'menu' | 'listed-menu' | 'modal';

/** Picks buttons for few short choices, then a menu, and a modal if a message has no room. */
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

/** Builds options whose values are the numbers of the choices; if one is cut, all show their number in the list. */
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
