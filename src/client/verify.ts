import { decodeProtectedHeader, importSPKI, jwtVerify } from 'jose';
import type { Receipt, WebhookMessage } from './views.ts';

/** The type in the header of a receipt. */
export const RECEIPT_TYPE = 'countersign-receipt';
const PUBLIC_PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;
/** A message of a webhook that is older or newer than this may have been recorded and sent again. */
const TOLERANCE_S = 300;

/**
 * Verifies a receipt with the public keys of the audit log, as PEM, and nothing else. Throws if it is not genuine, is over, or is for another
 * caller; compare `ask` and `digest` with what is about to run.
 */
export async function verifyReceipt(
  receipt: string,
  { publicKeys, caller }: { readonly publicKeys: string; readonly caller?: string },
): Promise<Receipt> {
  const { typ } = decodeProtectedHeader(receipt);
  if (typ !== RECEIPT_TYPE) throw new Error('This is no receipt of Countersign');
  const options = {
    algorithms: ['EdDSA'],
    requiredClaims: ['exp', 'ask', 'digest'],
    ...(caller !== undefined && { audience: caller }),
  };
  const problems: unknown[] = [];
  for (const pem of publicKeys.match(PUBLIC_PEM) ?? []) {
    try {
      const { payload } = await jwtVerify<Receipt>(receipt, await importSPKI(pem, 'EdDSA'), options);
      if (payload.v !== 1) throw new Error('The receipt has a later version: update countersign/client');
      return payload;
    } catch (error) {
      if (!isOtherKey(error)) throw error;
      problems.push(error);
    }
  }
  throw new Error('The receipt is signed with none of these keys', { cause: problems.at(-1) });
}

function isOtherKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED';
}

/**
 * Verifies a message of a webhook by Standard Webhooks, and returns it. Throws if it is not from the bot or not of the last minutes. The
 * same message may come again: compare `webhook-id`.
 */
export async function verifyWebhook(
  body: string,
  { headers, secret }: { readonly headers: Headers; readonly secret: string },
): Promise<WebhookMessage> {
  const id = headers.get('webhook-id') ?? '';
  const timestamp = headers.get('webhook-timestamp') ?? '';
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S)
    throw new Error('The message has no time, or is not of the last five minutes');
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of (headers.get('webhook-signature') ?? '').split(' ')) {
    const [version, value = ''] = signature.split(',', 2);
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, bytesOf(value), signed)))
      return JSON.parse(body);
  }
  throw new Error('The message is not signed with this secret');
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = base64.replace(/[^A-Za-z0-9+/]/g, '');
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
