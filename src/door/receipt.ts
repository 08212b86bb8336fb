import { hash, type KeyObject } from 'node:crypto';
import { CompactSign, decodeProtectedHeader, jwtVerify } from 'jose';
import { z } from 'zod';
import { canonicalJson, toJson } from '../agent/json.ts';
import { ExactAction } from '../tools/toolbox/caller-action.ts';

const TYPE = 'countersign-receipt';

export const Receipt = z
  .object({
    v: z.literal(1).describe('The version of the receipt.'),
    ask: z.string(),
    aud: z.string().describe('The caller, for whom it is.'),
    policy: z.string(),
    digest: z.hash('sha256').describe('Of what was approved; see "digest" of the ask.'),
    decision: z.literal('approved'),
    approvers: z.array(z.string()),
    iat: z.int().describe('When it was approved, in seconds.'),
    exp: z.int().describe('The last moment to start it, in seconds.'),
  })
  .describe('What people approved: the claims that the receipt signs.');
export type Receipt = Readonly<z.infer<typeof Receipt>>;

/** The key that signs the audit log. */
export interface ReceiptKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** Computes the digest of exactly what a caller wants to run; the caller computes the same before it runs it. */
export function actionDigest(action: ExactAction): string {
  return hash('sha256', canonicalJson(toJson(ExactAction.parse(action))));
}

/** Signs a receipt with Ed25519, as a JWT whose end every JOSE library checks. */
export function signReceipt(receipt: Receipt, { id, privateKey }: ReceiptKey): Promise<string> {
  return new CompactSign(new TextEncoder().encode(canonicalJson(toJson(receipt))))
    .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: TYPE })
    .sign(privateKey);
}

/** Verifies a receipt with the public keys of the audit log, by their ids, and nothing else; throws if it is not genuine, or over. */
export async function verifyReceipt(
  receipt: string,
  publicKeys: ReadonlyMap<string, KeyObject>,
): Promise<Receipt> {
  const { kid = '', typ } = decodeProtectedHeader(receipt);
  const key = publicKeys.get(kid);
  if (key === undefined || typ !== TYPE) throw new Error('The receipt is not signed with this key');
  const { payload } = await jwtVerify(receipt, key, { algorithms: ['EdDSA'], requiredClaims: ['exp'] });
  return Receipt.parse(payload);
}
