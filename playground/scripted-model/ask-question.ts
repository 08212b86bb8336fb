import { z } from 'zod';
import { tellClosed } from './describe-outcome.ts';
import { call, type Move, type Step, say } from './rule.ts';

/** A question for the person, as the built-in tool `ask_question` takes it. */
export interface Question {
  readonly question: string;
  readonly choices: readonly string[];
}

const Asked = z.object({ question: z.string() });

/** The answer that a question has got, or else the move that asks it or takes note that nobody will answer. */
export function askPerson(
  steps: readonly Step[],
  { question, choices }: Question,
): { readonly answer: string } | { readonly move: Move } {
  const step = steps.findLast(
    ({ tool, input }) => tool === 'ask_question' && Asked.safeParse(input).data?.question === question,
  );
  if (step === undefined)
    return { move: call({ name: 'ask_question', arguments: { question, choices, allowOther: true } }) };
  const { outcome } = step;
  if (outcome.kind === 'closed') return { move: say(tellClosed('my question', outcome)) };
  return { answer: String(outcome.output) };
}
