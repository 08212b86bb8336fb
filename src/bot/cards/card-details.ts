import { z } from 'zod';
import type { JsonValue } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port.ts';

const Json = z.custom<JsonValue>((value) => value !== undefined);
const Words = z.string().min(1).optional().catch(undefined);

const CardDetails = z.object({
  interrupt: z.object({
    toolRequest: z.object({ name: z.string(), input: Json }),
    metadata: z
      .object({ approval: z.object({ rule: Words }) })
      .optional()
      .catch(undefined),
  }),
  /** The input as the model gave it, where a person has changed it since. */
  originalInput: Json.optional(),
  /** What the tool says of itself. */
  description: Words,
  /** What the model said as it made the call. */
  why: Words,
  /** The rule that asked for a signature, where the pause itself does not name it. */
  rule: Words,
  policy: z
    .object({
      name: Words,
      risk: z.enum(['low', 'medium', 'high']).optional().catch(undefined),
      confirm: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  /** What a form or a call-back is about, in one sentence of the tool's. */
  purpose: Words,
});

/** What a card shows of a request's details; all but the call itself may be absent. */
export interface CardDetails extends Omit<z.infer<typeof CardDetails>, 'interrupt'> {
  readonly name: string;
  readonly input: JsonValue;
}

/** Reads the details leniently: what does not fit is left out, and only details without a call cannot be shown. */
export function cardDetailsOf(request: RequestRecord): CardDetails | undefined {
  const parsed = CardDetails.safeParse(request.details);
  if (!parsed.success) return undefined;
  const { interrupt, rule = interrupt.metadata?.approval.rule, ...rest } = parsed.data;
  return { ...rest, rule, ...interrupt.toolRequest };
}

/** Whether the button itself has to ask once more. */
export function needsConfirmation({ policy }: CardDetails): boolean {
  return policy?.confirm ?? policy?.risk === 'high';
}

const Question = z.object({
  question: z.string(),
  choices: z.array(z.string()).catch([]),
  /** Whether an answer in one's own words is taken. */
  allowOther: z.boolean().catch(false),
  /** Whether several choices may be taken together. */
  several: z.boolean().catch(false),
});
/** A question as the model asked it. */
export type Question = Readonly<z.infer<typeof Question>>;

/** Reads the question out of the call; one that cannot be read has neither choices nor write-ins. */
export function questionOf(request: RequestRecord): Question {
  const parsed = Question.safeParse(cardDetailsOf(request)?.input);
  if (parsed.success) return parsed.data;
  return { question: 'This question cannot be shown.', choices: [], allowOther: false, several: false };
}
