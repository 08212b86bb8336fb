import { z } from 'zod';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { Json, JsonRecord } from '../agent/json-schema.ts';
import { type CallPart, Interrupt } from '../agent/messages.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import { waitingAnswerOf } from '../tools/waiting-answer.ts';
import { KeptFacets } from './facets/facets.ts';
import { innerCalls } from './inner-calls.ts';
import { PresentedCall } from './presented.ts';

/** A text that a card can do without: one that does not fit is left out. */
const Text = z.string().min(1).optional().catch(undefined);

const Details = z.object({
  interrupt: Interrupt,
  idempotencyKey: z.string(),
  /** The call in words, made with the request. */
  presented: PresentedCall,
  /** The terms of the policy that people approve under, as the log has them; an escalation does not change them. */
  terms: JsonRecord.optional(),
  /** The model's input, if another one waits for approval. */
  originalInput: Json.optional(),
  /** The digest of a request among whose steps or choices approvers choose, as it is shown to them. */
  shown: Text,
  /** The purpose of a form or a callback. */
  purpose: Text,
  /** The place among the requests of its turn, in the order of the calls, and the request before it; missing for a single one. */
  place: z.object({ number: z.number(), of: z.number(), after: z.string().optional() }).optional(),
  /** The part of the policy that the card shows; the record itself has the approvers. */
  policy: z
    .object({
      name: Text,
      risk: z.enum(['low', 'medium', 'high']).optional(),
      confirm: z.union([z.boolean(), z.literal('passkey')]).optional(),
      /** Whether the tool paused by itself, behind its gate. */
      own: z.boolean(),
    })
    .optional(),
  /** What each feature adds. */
  facets: KeptFacets.default({}),
});
/** The call of a request: enough to draw its card and to run it. */
export type Details = z.infer<typeof Details>;

/** Parses the details of a request; throws if the call cannot be read. */
export function detailsOf(request: Pick<RequestRecord, 'details'>): Details {
  return Details.parse(request.details);
}

/** Parses the details of a request; `undefined` if the call cannot be read. */
export function readDetails(request: Pick<RequestRecord, 'details'>): Details | undefined {
  return Details.safeParse(request.details).data;
}

/** Builds the details of a new request. */
export function toDetails(
  call: CallPart,
  interrupt: Interrupt,
  shown: Omit<Details, 'interrupt' | 'idempotencyKey' | 'originalInput'>,
): JsonObject {
  const original = call.toolRequest.input;
  const waiting = interrupt.toolRequest.input;
  const changed = original !== waiting && JSON.stringify(original) !== JSON.stringify(toJson(waiting));
  const { idempotencyKey } = call;
  const details = { interrupt, idempotencyKey, ...(changed && { originalInput: original }), ...shown };
  return JsonRecord.parse(toJson(details));
}

/** Returns the arguments that an approval covers: those of the call, after those of calls inside it, or an answer to its server. */
export function approvedArguments(interrupt: Interrupt): JsonValue {
  const { name, input } = interrupt.toolRequest;
  const answer = waitingAnswerOf(interrupt);
  if (answer !== undefined) return { answers: answer.words, arguments: toJson(input) };
  const inner = innerCalls(interrupt);
  if (inner === undefined) return toJson(input);
  const calls = inner.map((call, index) => [
    inner.length === 1 ? call.tool : `${index + 1}. ${call.tool}`,
    call.arguments,
  ]);
  return Object.fromEntries([...calls, [`inside ${name}`, toJson(input)]]);
}

/** Returns the call of a request as the model made it. */
export function callOf({ interrupt, idempotencyKey, originalInput }: Details): CallPart {
  const { name, ref, input } = interrupt.toolRequest;
  return { toolRequest: { name, ref, input: originalInput ?? toJson(input) }, idempotencyKey };
}

/** Returns the name of the tool that a request is about; '' if its details cannot be read. */
export function toolOf(request: Pick<RequestRecord, 'details'>): string {
  return readDetails(request)?.interrupt.toolRequest.name ?? '';
}
