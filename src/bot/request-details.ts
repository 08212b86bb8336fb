import { z } from 'zod';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { type CallPart, Interrupt, MESSAGE_VERSION, type Message, sealMessage } from '../agent/messages.ts';
import type { RequestRecord } from '../store/port.ts';

const Details = z.object({
  interrupt: Interrupt,
  idempotencyKey: z.string(),
  /** The input as the model gave it, where another one waits. */
  originalInput: z.custom<JsonValue>((value) => value !== undefined).optional(),
});
/** What a request keeps of the call it is about: enough to draw its card and to run it. */
export type Details = z.infer<typeof Details>;

export function detailsOf(request: RequestRecord): Details {
  return Details.parse(request.details);
}

export function toDetails(call: CallPart, interrupt: Interrupt): JsonObject {
  const original = toJson(call.toolRequest.input);
  const waits = toJson(interrupt.toolRequest.input);
  const changed = JSON.stringify(original) !== JSON.stringify(waits);
  const details = {
    interrupt,
    idempotencyKey: call.idempotencyKey,
    ...(changed && { originalInput: original }),
  };
  return toJson(details) as JsonObject;
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
