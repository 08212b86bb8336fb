import type { Delivery } from '../delivery/delivery.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { JsonObject } from '../state/types.ts';
import type { RecordedCall } from './handle-call.ts';

/** A payload sent by the app, with its JSON arguments parsed, for schema checks. */
export interface SentPayload {
  /** Channel of the payload: a call, a response URL, or the answer to an interaction. */
  by: 'call' | 'response_url' | 'answer';
  /** The method of a call, or the type of interaction that is answered. */
  name: string;
  payload: JsonObject;
  /** Slack's error, if it was refused. */
  error?: string;
}

const JSON_ARGUMENTS = [
  'attachments',
  'blocks',
  'chunks',
  'files',
  'loading_messages',
  'metadata',
  'prompts',
  'view',
];

/** Lists all payloads sent by the app, calls first. */
export function sentPayloads(
  calls: readonly RecordedCall[],
  responses: readonly { body: JsonObject; error?: string }[],
  deliveries: readonly Delivery[],
): SentPayload[] {
  return [
    ...calls.map(({ method, arguments: given, response }) =>
      sent('call', method, given, typeof response.error === 'string' ? response.error : undefined),
    ),
    ...responses.map(({ body, error }) => sent('response_url', 'response_url', body, error)),
    ...deliveries.flatMap(({ type, payload, outcome }) =>
      outcome.kind === 'acknowledged' && Object.keys(outcome.payload).length > 0
        ? [sent('answer', String(payload.type ?? type), outcome.payload, undefined)]
        : [],
    ),
  ];
}

function sent(
  by: SentPayload['by'],
  name: string,
  given: JsonObject,
  error: string | undefined,
): SentPayload {
  const payload = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      JSON_ARGUMENTS.includes(key) ? readJson(value) : value,
    ]),
  );
  return { by, name, payload, ...(error !== undefined && { error }) };
}

function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}
