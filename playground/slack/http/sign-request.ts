import { createHmac } from 'node:crypto';
import type { EnvelopeType, SentRequest } from '../delivery/delivery.ts';
import type { JsonObject } from '../state/types.ts';

/** What a request carries: an event as JSON, everything a person does as a form. */
export interface RequestContent {
  type: EnvelopeType;
  payload: JsonObject;
}

/** Slack's signature of a body: version 0, over the time and the exact bytes. */
function signatureOf(secret: string, timestamp: number, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

/** The request without any signature. */
export function buildRequest(url: string, { type, payload }: RequestContent): SentRequest {
  if (type === 'events_api')
    return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) };
  const form = type === 'interactive' ? { payload: JSON.stringify(payload) } : stringsOf(payload);
  return buildForm(url, form);
}

/** A form without any signature. */
export function buildForm(url: string, form: Record<string, string>): SentRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, headers, body: new URLSearchParams(form).toString() };
}

/** The same request with the headers by which the app knows that it is Slack's. */
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
