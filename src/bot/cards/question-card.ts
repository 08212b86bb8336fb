import type { RequestRecord } from '../../store/port.ts';
import { askQuestion } from '../../tools/ask-question.ts';
import { detailsOf } from '../request-details.ts';
import { type Card, line, person, plain, words } from './card.ts';
import { limits } from './limits.ts';

/** A choice's action is this and its number: action ids must differ within a block. */
export const CHOOSE = 'choose';

/** The choices of a question, as the model gave them. */
export function choicesOf(request: RequestRecord): {
  readonly question: string;
  readonly choices: readonly string[];
} {
  const parsed = askQuestion.inputSchema.parse(detailsOf(request).interrupt.toolRequest.input);
  return parsed.ok ? parsed.value : { question: 'This question cannot be shown.', choices: [] };
}

/** The card of a question: a button for each choice, and afterwards the answer and who gave it. */
export function buildQuestionCard(request: RequestRecord): Card {
  const { question, choices } = choicesOf(request);
  const text = question.slice(0, limits.sectionText);
  const asked = { type: 'section' as const, text: plain(text) };
  if (request.state !== 'pending') {
    const answer =
      request.payload === undefined || request.payload === '' ? request.state : JSON.parse(request.payload);
    const foot = [words(String(answer), { bold: true })];
    if (request.by !== undefined && request.by !== '') foot.push(words(', answered by '), person(request.by));
    return { text: `${text}: ${request.state}`, blocks: [asked, line(...foot)] };
  }
  const elements = choices.slice(0, limits.actionsElements).map((choice, index) => ({
    type: 'button' as const,
    action_id: `${CHOOSE}:${index}`,
    value: request.id,
    text: plain(choice.slice(0, limits.buttonText)),
  }));
  return { text, blocks: [asked, { type: 'actions', elements }] };
}
