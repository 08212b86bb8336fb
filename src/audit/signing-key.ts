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
  /** All keys whose checkpoints count, by their id: its own, and those it has replaced, whose public parts stand beside it. */
  readonly publicKeys: ReadonlyMap<string, KeyObject>;
}

/** A place of the key: a file, or the text of the key itself. */
export type KeySource = { readonly file: string } | { readonly text: string };

const PRIVATE_PEM = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/;
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

/** Parses a private Ed25519 key: PEM, or base64 of its PKCS #8 form. The public keys it has replaced may follow, as PEM. */
function parseSigningKey(given: string, name: string): SigningKey {
  // An environment file often holds the line breaks of a PEM text as \n.
  const text = given.replaceAll('\\n', '\n');
  const privateKey = parsePrivateKey(text);
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new Error(`${name} holds no Ed25519 private key (PEM, or base64 of PKCS #8)`);
  const publicKey = createPublicKey(privateKey);
  const publicKeys = new Map([...publicKeysOf([publicKey]), ...parsePublicKeys(text)]);
  return { id: keyIdOf(publicKey), privateKey, publicKey, publicKeys };
}

function parsePrivateKey(text: string): KeyObject | undefined {
  const [pem] = PRIVATE_PEM.exec(text) ?? [];
  const der = text.replace(PUBLIC_PEM, '').trim();
  try {
    return pem === undefined
      ? createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' })
      : createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** Reads public keys by their id. A file may hold several, for a log whose key was changed. */
export function parsePublicKeys(text: string): ReadonlyMap<string, KeyObject> {
  const keys = (text.match(PUBLIC_PEM) ?? []).map((pem) => createPublicKey(pem));
  return publicKeysOf(keys.filter((key) => key.asymmetricKeyType === 'ed25519'));
}

function publicKeysOf(keys: readonly KeyObject[]): ReadonlyMap<string, KeyObject> {
  return new Map(keys.map((key) => [keyIdOf(key), key]));
}

/** Writes the public keys that verify what the key and those before it have signed. */
export function publicPemOf({ publicKeys }: Pick<SigningKey, 'publicKeys'>): string {
  return [...publicKeys.values()].map((key) => String(key.export({ type: 'spki', format: 'pem' }))).join('');
}

/** Names a key by the SHA-256 of its public part. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}
