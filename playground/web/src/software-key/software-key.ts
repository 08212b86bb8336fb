/**
 * A passkey in software for a browser that has none: it makes real P-256 keys with WebCrypto, keeps them in this browser, and signs as a device
 * does, so that the bot sees an ordinary passkey. It checks nobody's face or finger; a click stands in for that. Only the playground adds this
 * script to the bot's page.
 */

const DATABASE = 'playground-software-keys';
const KEYS = 'keys';
const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];
/** An attestation of the format "none", up to the length of its data. */
const ATTESTATION = 'a363666d74646e6f6e656761747453746d74a068617574684461746158';
/** A P-256 key for ES256 in COSE, around its two numbers. */
const COSE = ['a5010203262001215820', '225820'] as const;

type Bytes = Uint8Array<ArrayBuffer>;

interface SoftwareKey {
  /** The id of the credential, as base64url. */
  readonly id: string;
  /** It cannot be read out. */
  readonly privateKey: CryptoKey;
}

if (!(await hasAuthenticator())) {
  // Without this class the page takes the browser for too old.
  if (typeof PublicKeyCredential !== 'function') Object.assign(globalThis, { PublicKeyCredential: class {} });
  navigator.credentials.create = (options) => create(options?.publicKey);
  navigator.credentials.get = (options) => sign(options?.publicKey);
}

async function hasAuthenticator(): Promise<boolean> {
  const isKnown = typeof PublicKeyCredential === 'function';
  return isKnown && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());
}

/** Answers `navigator.credentials.create`. */
async function create(options: PublicKeyCredentialCreationOptions | undefined): Promise<Credential> {
  if (options === undefined) throw refused();
  await agreed('Make a software key?', 'Make the key');
  const { privateKey, publicKey } = await crypto.subtle.generateKey(EC, false, ['sign']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey);
  const rawId = crypto.getRandomValues(new Uint8Array(16));
  const id = toBase64url(rawId);
  const data = joined(
    await authenticatorData(options.rp.id, PRESENT | VERIFIED | ATTESTED),
    new Uint8Array(16),
    new Uint8Array([0, rawId.length]),
    ...[rawId, fromHex(COSE[0]), fromBase64url(x), fromHex(COSE[1]), fromBase64url(y)],
  );
  await keep({ id, privateKey });
  return credential(rawId, {
    clientDataJSON: clientData('webauthn.create', options.challenge).buffer,
    attestationObject: joined(fromHex(ATTESTATION), new Uint8Array([data.length]), data).buffer,
  });
}

/** Answers `navigator.credentials.get`. */
async function sign(options: PublicKeyCredentialRequestOptions | undefined): Promise<Credential> {
  if (options === undefined) throw refused();
  const allowed = (options.allowCredentials ?? []).map(({ id }) => toBase64url(bytesOf(id)));
  const key = (await kept()).find(({ id }) => allowed.includes(id));
  if (key === undefined) throw refused();
  await agreed('Sign with the software key?', 'Sign');
  const data = await authenticatorData(options.rpId, PRESENT | VERIFIED);
  const client = clientData('webauthn.get', options.challenge);
  const signed = joined(data, await sha256(client));
  const signature = await crypto.subtle.sign({ ...EC, hash: 'SHA-256' }, key.privateKey, signed);
  return credential(fromBase64url(key.id), {
    authenticatorData: data.buffer,
    clientDataJSON: client.buffer,
    signature: derOf(new Uint8Array(signature)).buffer,
  });
}

function credential(rawId: Bytes, response: object): Credential {
  const answer = { id: toBase64url(rawId), rawId: rawId.buffer, type: 'public-key', response };
  return Object.assign(answer, { getClientExtensionResults: () => ({}) });
}

/** Asks the person, where a device would show its own dialog. */
function agreed(question: string, yes: string): Promise<void> {
  const dialog = document.createElement('dialog');
  const heading = Object.assign(document.createElement('h2'), { id: 'software-key', textContent: question });
  const about = Object.assign(document.createElement('p'), {
    textContent:
      'This browser has no passkeys, so the playground offers a key in software. A real bot never does: there your own device signs.',
  });
  const agree = Object.assign(document.createElement('button'), { textContent: yes, className: 'button' });
  const cancel = Object.assign(document.createElement('button'), { textContent: 'Cancel' });
  dialog.setAttribute('aria-labelledby', heading.id);
  dialog.style.maxWidth = '28rem';
  heading.style.marginTop = '0';
  dialog.append(heading, about, agree, ' ', cancel);
  document.body.append(dialog);
  return new Promise((resolve, reject) => {
    agree.onclick = () => dialog.close('yes');
    cancel.onclick = () => dialog.close();
    dialog.onclose = () => {
      dialog.remove();
      if (dialog.returnValue === 'yes') resolve();
      else reject(refused());
    };
    dialog.showModal();
  });
}

function refused(): DOMException {
  return new DOMException('No software key signed this.', 'NotAllowedError');
}

async function authenticatorData(rpId: string | undefined, flags: number): Promise<Bytes> {
  const site = await sha256(new TextEncoder().encode(rpId ?? location.hostname));
  // The counter stays 0, as that of a synced passkey.
  return joined(site, new Uint8Array([flags, 0, 0, 0, 0]));
}

function clientData(type: string, challenge: BufferSource): Bytes {
  const { origin } = location;
  const data = { type, challenge: toBase64url(bytesOf(challenge)), origin, crossOrigin: false };
  return new TextEncoder().encode(JSON.stringify(data));
}

/** Turns the two numbers that WebCrypto writes into the DER form that authenticators write. */
function derOf(raw: Bytes): Bytes {
  const numbers = [raw.slice(0, 32), raw.slice(32)].map((number) => {
    const digits = number.slice(number.findIndex((byte) => byte !== 0));
    // A leading bit would make it negative.
    const whole = (digits[0] ?? 0) > 0x7f ? joined(new Uint8Array([0]), digits) : digits;
    return joined(new Uint8Array([0x02, whole.length]), whole);
  });
  const inside = joined(...numbers);
  return joined(new Uint8Array([0x30, inside.length]), inside);
}

async function keep(key: SoftwareKey): Promise<void> {
  const store = (await openDatabase()).transaction(KEYS, 'readwrite').objectStore(KEYS);
  await done(store.put(key));
}

async function kept(): Promise<readonly SoftwareKey[]> {
  return await done<SoftwareKey[]>((await openDatabase()).transaction(KEYS).objectStore(KEYS).getAll());
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(KEYS, { keyPath: 'id' });
  return done(opening);
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function joined(...parts: readonly Bytes[]): Bytes {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function bytesOf(source: BufferSource): Bytes {
  return source instanceof ArrayBuffer
    ? new Uint8Array(source.slice(0))
    : new Uint8Array([...new Uint8Array(source.buffer, source.byteOffset, source.byteLength)]);
}

function fromHex(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function toBase64url(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function fromBase64url(text: string): Bytes {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export {};
