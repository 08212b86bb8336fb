import type { IncomingHttpHeaders } from 'node:http';
import { verifySlackRequest } from '@slack/bolt';
import { z } from 'zod';

const Body = z.record(z.string(), z.unknown());

/** A parsed request body of Slack. */
export type SlackBody = z.infer<typeof Body>;

const MAX_SKEW_S = 300;

/** The time for which a signature could be replayed: five minutes in either direction, and some for the clocks. */
export const SIGNATURE_LIFE_MS = 11 * 60_000;

/** The headers of a signed request. The signature has one exact form, so that a replay cannot be disguised as another request. */
const SignedHeaders = z.object({
  'x-slack-request-timestamp': z.string().regex(/^\d{1,12}$/),
  'x-slack-signature': z.string().regex(/^v0=[0-9a-f]{64}$/),
});

export type SignatureCheck =
  | { readonly ok: true; readonly signature: string }
  | { readonly ok: false; readonly problem: string };

/** Checks that Slack signed this body within five minutes of now. Bolt checks the signature and the past, this checks the future. */
export function checkSignature(
  signingSecret: string,
  headers: IncomingHttpHeaders,
  body: string,
  now = Date.now(),
): SignatureCheck {
  const signed = SignedHeaders.safeParse(headers).data;
  if (signed === undefined) return { ok: false, problem: 'The request is not signed by Slack.' };
  const timestamp = Number(signed['x-slack-request-timestamp']);
  const signature = signed['x-slack-signature'];
  if (Math.abs(now / 1_000 - timestamp) > MAX_SKEW_S)
    return { ok: false, problem: 'The time of the request is more than five minutes from now.' };
  try {
    verifySlackRequest({
      signingSecret,
      body,
      headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp },
      nowMilliseconds: now,
    });
  } catch {
    return { ok: false, problem: 'The signature of the request is wrong.' };
  }
  return { ok: true, signature };
}

/** Parses a body: JSON for an event, JSON in a form for a click, a form for a command; `undefined` for anything else. */
export function parseSlackBody(contentType: string | undefined, body: string): SlackBody | undefined {
  try {
    if (!isForm(contentType)) return Body.parse(JSON.parse(body));
    const form = new URLSearchParams(body);
    const payload = form.get('payload');
    return payload === null ? Object.fromEntries(form) : Body.parse(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

/** Tells whether Slack only checks the certificate. Such a request is not signed, so nothing else in it is read. */
export function isCertificateCheck(contentType: string | undefined, body: string): boolean {
  return isForm(contentType) && new URLSearchParams(body).get('ssl_check') === '1';
}

function isForm(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}
