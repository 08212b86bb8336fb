import { z } from 'zod';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { type CallPart, Interrupt, MESSAGE_VERSION, type Message, sealMessage } from '../agent/messages.ts';
import type { RequestRecord } from '../store/port.ts';

/** What the card says of the policy; who may sign stands in the record itself. */
const ShownPolicy = z.object({
  name: z.string(),
  risk: z.enum(['low', 'medium', 'high']),
  confirm: z.boolean(),
  /** Whether the pause is the tool's own, behind its gate. */
  own: z.boolean(),
});

const Details = z.object({
  interrupt: Interrupt,
  idempotencyKey: z.string(),
  /** The input as the model gave it, where another one waits. */
  originalInput: z.custom<JsonValue>((value) => value !== undefined).optional(),
  /** What the tool says it does. */
  description: z.string().optional(),
  /** The model's own words beside the call. */
  why: z.string().optional(),
  /** The rule that asks for a signature, where the pause itself does not name it. */
  rule: z.string().optional(),
  /** What a form or a call-back is about. */
  purpose: z.string().optional(),
  policy: ShownPolicy.optional(),
});
/** What a request keeps of the call it is about: enough to draw its card and to run it. */
export type Details = z.infer<typeof Details>;

const Fields = z.custom<JsonObject>();

export function detailsOf(request: Pick<RequestRecord, 'details'>): Details {
  return Details.parse(request.details);
}

export function toDetails(
  call: CallPart,
  interrupt: Interrupt,
  shown: Pick<Details, 'description' | 'why' | 'rule' | 'purpose' | 'policy'> = {},
): JsonObject {
  const original = call.toolRequest.input;
  const waiting = interrupt.toolRequest.input;
  const changed = original !== waiting && JSON.stringify(original) !== JSON.stringify(toJson(waiting));
  const { idempotencyKey } = call;
  const details = { interrupt, idempotencyKey, ...(changed && { originalInput: original }), ...shown };
  return Fields.parse(toJson(details));
}

/** The call and its pause as messages: a call is settled from these alone, without the thread it stands in. */
export function messagesOf({ interrupt, idempotencyKey, originalInput }: Details): Message[] {
  const { name, ref, input } = interrupt.toolRequest;
  const toolRequest = { name, ref, input: originalInput ?? input };
  return [
    sealMessage({ v: MESSAGE_VERSION, role: 'model', content: [{ toolRequest, idempotencyKey }] }),
    sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [{ interrupt }] }),
  ];
}
