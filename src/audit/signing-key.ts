import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** The key that signs checkpoints. It never enters Redis, so that write access to Redis is not enough to forge a log. */
export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** A place of the key: a file, or the text of the key itself. */
export type KeySource = { readonly file: string } | { readonly text: string };

const PUBLIC_PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** Makes a new Ed25519 pair as PEM texts. */
export function createKeyPair(): { readonly privatePem: string; readonly publicPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: privateKey, publicPem: publicKey };
}

/** Reads the signing key; throws with a sentence that repeats no part of it. */
export async function readSigningKey(source: KeySource): Promise<SigningKey> {
  if ('text' in source) return parseSigningKey(source.text, 'AUDIT_KEY');
  const text = await readFile(source.file, 'utf8').catch(() => {
    throw new Error(`AUDIT_KEY_FILE: ${source.file} cannot be read`);
  });
  return parseSigningKey(text, 'AUDIT_KEY_FILE');
}

/** Parses a private Ed25519 key: PEM, or base64 of its PKCS #8 form. */
function parseSigningKey(text: string, name: string): SigningKey {
  const privateKey = parsePrivateKey(text);
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new Error(`${name} holds no Ed25519 private key (PEM, or base64 of PKCS #8)`);
  const publicKey = createPublicKey(privateKey);
  return { id: keyIdOf(publicKey), privateKey, publicKey };
}

function parsePrivateKey(text: string): KeyObject | undefined {
  // An environment file often holds the line breaks of a PEM text as \n.
  const pem = text.replaceAll('\\n', '\n').trim();
  try {
    return pem.startsWith('-----')
      ? createPrivateKey(pem)
      : createPrivateKey({ key: Buffer.from(pem, 'base64'), format: 'der', type: 'pkcs8' });
  } catch {
    return undefined;
  }
}

/** Reads public keys by their id. A file may hold several, for a log whose key was changed. */
export function parsePublicKeys(text: string): ReadonlyMap<string, KeyObject> {
  const keys = (text.match(PUBLIC_PEM) ?? []).map((pem) => createPublicKey(pem));
  return publicKeysOf(keys.filter((key) => key.asymmetricKeyType === 'ed25519'));
}

export function publicKeysOf(keys: readonly KeyObject[]): ReadonlyMap<string, KeyObject> {
  return new Map(keys.map((key) => [keyIdOf(key), key]));
}

export function publicPemOf({ publicKey }: Pick<SigningKey, 'publicKey'>): string {
  return String(publicKey.export({ type: 'spki', format: 'pem' }));
}

/** Names a key by the SHA-256 of its public part. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}
