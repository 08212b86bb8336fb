import { hash } from 'node:crypto';
import { toJson } from '../agent/json.ts';
import type { Interrupt } from '../agent/messages.ts';
import { choiceText } from '../policy/digest.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Vote } from '../store/port/values.ts';
import { type AnswerMeaning, type Ask, askOf, meaningOf, YES_ANSWER } from '../tools/pause.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { readDetails } from './request-details.ts';

type Choices = Extract<Ask['way'], { kind: 'choice' }>['choices'];

/** Lists the choices of a pause that approvers vote on; none where they say yes or no, or where somebody answers. */
export function votedChoices(interrupt: Interrupt): Choices {
  const way = askOf(interrupt)?.way;
  return way?.kind === 'choice' && classifyInterrupt(interrupt).kind === 'approval' ? way.choices : [];
}

/** Binds an approval to the choice that it lets the call go on with. */
export function choiceDigest(shown: string, number: number, choices: Choices): string {
  return hash('sha256', choiceText(shown, number, choices.map(toJson)));
}

/** Returns the choice that a vote is for, with the digest of the request with it; `undefined` if the request has it already. */
export function chosenChoice(request: RequestRecord, picked: readonly number[] | undefined): Vote['chosen'] {
  const details = readDetails(request);
  const [number = 0] = picked ?? [];
  const choices = details === undefined ? [] : votedChoices(details.interrupt);
  if (choices[number - 1] === undefined || request.chosen?.[0] === number) return undefined;
  return { steps: [number], digest: choiceDigest(details?.shown ?? '', number, choices) };
}

/** Reads what the approvers of a tool's own question have decided; `undefined` if the tool asked none, or nothing was chosen. */
export function decisionOf(
  interrupt: Interrupt,
  { chosen }: Pick<RequestRecord, 'chosen'>,
): AnswerMeaning | undefined {
  const ask = askOf(interrupt);
  const label = votedChoices(interrupt)[(chosen?.[0] ?? 0) - 1]?.label;
  const answer = ask?.way.kind === 'confirm' ? YES_ANSWER : label;
  return ask === undefined || answer === undefined ? undefined : meaningOf(ask, answer);
}
