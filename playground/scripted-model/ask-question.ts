import { z } from 'zod';
import { describeOutcome } from './describe-outcome.ts';
import { callTools, type NextStep, type PastCall, reply } from './rule.ts';

/** A question for the person, as the built-in tool `ask_question` takes it. */
export interface Question {
  readonly question: string;
  readonly choices: readonly string[];
}

const Asked = z.object({ question: z.string() });

/** Returns the answer to a question, or else the step that asks it or reports that it was closed. */
export function askQuestion(
  steps: readonly PastCall[],
  { question, choices }: Question,
): { readonly answer: string } | { readonly step: NextStep } {
  const step = steps.findLast(
    ({ tool, input }) => tool === 'ask_question' && Asked.safeParse(input).data?.question === question,
  );
  if (step === undefined)
    return { step: callTools({ name: 'ask_question', arguments: { question, choices, allowOther: true } }) };
  const { outcome } = step;
  if (outcome.kind === 'closed') return { step: reply(describeOutcome('my question', outcome)) };
  return { answer: String(outcome.output) };
}
