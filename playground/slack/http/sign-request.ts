import { createHmac } from 'node:crypto';
import type { EnvelopeType, SentRequest } from '../delivery/delivery.ts';
import type { JsonObject } from '../state/types.ts';

/** Content of a request: an event as JSON, an interaction as a form. */
export interface RequestContent {
  type: EnvelopeType;
  payload: JsonObject;
}

/** Computes Slack's v0 signature over the time and the exact bytes. */
function signatureOf(secret: string, timestamp: number, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

/** Builds a request without a signature. */
export function buildRequest(url: string, { type, payload }: RequestContent): SentRequest {
  if (type === 'events_api')
    return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) };
  const form = type === 'interactive' ? { payload: JSON.stringify(payload) } : stringsOf(payload);
  return buildForm(url, form);
}

/** Builds a form request without a signature. */
export function buildForm(url: string, form: Record<string, string>): SentRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, headers, body: new URLSearchParams(form).toString() };
}

/** Adds Slack's signature headers to a request. */
export function signRequest(
  request: SentRequest,
  secret: string,
  timestamp = Math.floor(Date.now() / 1_000),
): SentRequest {
  return {
    ...request,
    headers: {
      ...request.headers,
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': signatureOf(secret, timestamp, request.body),
    },
  };
}

function stringsOf(payload: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, String(value)]));
}
