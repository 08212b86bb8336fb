import { hash, type KeyObject } from 'node:crypto';
import { CompactSign, compactVerify, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { canonicalJson, toJson, tryParseJson } from '../agent/json.ts';
import { ExactAction } from '../tools/toolbox/caller-action.ts';

const TYPE = 'countersign-receipt';

export const Receipt = z
  .object({
    ask: z.string(),
    caller: z.string(),
    policy: z.string(),
    digest: z.hash('sha256').describe('Of what was approved; see "digest" of the ask.'),
    decision: z.literal('approved'),
    approvers: z.array(z.string()),
    issued_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe('The last moment to start it.'),
  })
  .describe('What people approved: the text that the receipt signs.');
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

/** Signs a receipt with Ed25519, as a compact JWS. */
export function signReceipt(receipt: Receipt, { id, privateKey }: ReceiptKey): Promise<string> {
  return new CompactSign(new TextEncoder().encode(canonicalJson(toJson(receipt))))
    .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: TYPE })
    .sign(privateKey);
}

/** Verifies a receipt with the public keys of the audit log, by their ids, and nothing else; throws if it is not genuine. */
export async function verifyReceipt(
  receipt: string,
  publicKeys: ReadonlyMap<string, KeyObject>,
): Promise<Receipt> {
  const { kid = '', typ } = decodeProtectedHeader(receipt);
  const key = publicKeys.get(kid);
  if (key === undefined || typ !== TYPE) throw new Error('The receipt is not signed with this key');
  const { payload } = await compactVerify(receipt, key, { algorithms: ['EdDSA'] });
  return Receipt.parse(tryParseJson(new TextDecoder().decode(payload)));
}
