import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const FIVE_MINUTES_S = 300;

/** For how long after it was taken a signature could pass once more: five minutes either way, and some for the clocks. */
export const SIGNATURE_LIFE_MS = 11 * 60_000;

export type SignatureCheck =
  | { readonly ok: true; readonly signature: string }
  | { readonly ok: false; readonly problem: string };

/** Checks that Slack signed exactly these bytes, within five minutes of now in either direction. */
export function checkSignature(
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now = Date.now(),
): SignatureCheck {
  const timestamp = headers['x-slack-request-timestamp'];
  const signature = headers['x-slack-signature'];
  if (typeof timestamp !== 'string' || typeof signature !== 'string')
    return { ok: false, problem: 'The request is not signed by Slack.' };
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1_000 - Number(timestamp)) > FIVE_MINUTES_S)
    return { ok: false, problem: 'The time of the request is more than five minutes from now.' };
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  const expected = Buffer.from(`v0=${digest}`);
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return { ok: false, problem: 'The signature of the request does not fit it.' };
  return { ok: true, signature };
}
