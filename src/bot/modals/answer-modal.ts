import type { InputBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { plain } from '../cards/card.ts';
import { questionOf } from '../cards/card-details.ts';
import { choicesOfOptions, optionsOf } from '../cards/choices.ts';
import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';
import { menuOf } from './fields/field-element.ts';
import { ANSWER_MODAL, type Modal, modal, multilineInput, type Submission, untrustedText } from './modal.ts';
import { parseModalState, textIn } from './modal-state.ts';

export const CHOICE = 'choice';
export const OWN_WORDS = 'own-words';
/** The most choices of a menu in a modal; further ones need a written answer. */
const MOST_CHOICES = limits.selectOptions * limits.optionGroups;

/** Builds the modal that answers a question: by a menu, a written answer if it is allowed, or both. */
export function buildAnswerModal(request: RequestRecord): Modal {
  const { question, choices, several, allowOther } = questionOf(request);
  const options = optionsOf(choices).slice(0, MOST_CHOICES);
  const menu: InputBlock = {
    type: 'input',
    block_id: CHOICE,
    label: plain(modalTexts.chooseLabel(several)),
    element: { action_id: CHOICE, ...menuOf(options, { several }) },
    optional: allowOther,
  };
  const own = multilineInput(OWN_WORDS, modalTexts.yourAnswer(options.length === 0), {
    optional: options.length > 0,
  });
  const blocks = [
    untrustedText(question),
    ...(options.length === 0 ? [] : [menu]),
    ...(allowOther || options.length === 0 ? [own] : []),
  ];
  return modal(request.id, {
    callbackId: ANSWER_MODAL,
    title: modalTexts.answerTitle,
    submit: modalTexts.answerTitle,
    blocks,
  });
}

/** Parses the answer: a text, or a list for several choices; an answer that the question does not allow is an error. */
export function parseAnswer(request: RequestRecord, values: unknown): Submission<string | string[]> {
  const { several, choices, allowOther } = questionOf(request);
  const inputs = parseModalState(values);
  const menu = inputs.get(CHOICE)?.state;
  const chosen = menu?.selected_options ?? (menu?.selected_option ? [menu.selected_option] : []);
  const taken = choicesOfOptions(
    request,
    chosen.map(({ value }) => value),
  );
  if (taken === undefined) return { ok: false, errors: { [CHOICE]: modalTexts.notAChoice } };
  const own = allowOther || choices.length === 0 ? textIn(values, OWN_WORDS) : undefined;
  const answers = own === undefined ? taken : [...taken, own];
  const [first, second] = answers;
  const field = inputs.has(CHOICE) ? CHOICE : OWN_WORDS;
  if (first === undefined) return { ok: false, errors: { [field]: modalTexts.noAnswer } };
  if (several) return { ok: true, value: answers };
  if (second !== undefined) return { ok: false, errors: { [OWN_WORDS]: modalTexts.eitherOr } };
  return { ok: true, value: first };
}
