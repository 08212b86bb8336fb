import { z } from 'zod';
import { type JsonValue, toJson } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { type Details, readDetails } from '../requests/request-details.ts';

/** The details that a card shows. Everything but the call itself may be absent. */
export interface CardDetails
  extends Pick<
    Details,
    'originalInput' | 'description' | 'why' | 'rule' | 'purpose' | 'policy' | 'editedBy'
  > {
  readonly name: string;
  readonly input: JsonValue;
}

const GateRule = z.object({ approval: z.object({ rule: z.string().min(1) }) });

/** Reads the details of a request for its card; `undefined` if the call cannot be shown. */
export function cardDetailsOf(request: RequestRecord): CardDetails | undefined {
  const details = readDetails(request);
  if (details === undefined) return undefined;
  const { originalInput, editedBy, description, why, purpose, policy, interrupt } = details;
  const { name, input } = interrupt.toolRequest;
  const rule = details.rule ?? GateRule.safeParse(interrupt.metadata).data?.approval.rule;
  return { originalInput, editedBy, description, why, purpose, policy, rule, name, input: toJson(input) };
}

/** Tells whether the button asks for a confirmation. */
export function needsConfirmation({ policy }: CardDetails): boolean {
  return policy?.confirm ?? policy?.risk === 'high';
}

const Question = z.object({
  question: z.string(),
  choices: z.array(z.string()).catch([]),
  /** Whether a written answer is accepted. */
  allowOther: z.boolean().catch(false),
  /** Whether several choices may be selected. */
  several: z.boolean().catch(false),
});
/** A question of the model. */
export type Question = Readonly<z.infer<typeof Question>>;

/** Reads the question from the call; an unreadable one has neither choices nor written answers. */
export function questionOf(request: RequestRecord): Question {
  const parsed = Question.safeParse(cardDetailsOf(request)?.input);
  if (parsed.success) return parsed.data;
  return { question: 'This question cannot be shown.', choices: [], allowOther: false, several: false };
}
