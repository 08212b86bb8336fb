import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../agent/json.ts';

/** Keeps what passkeys sign apart from anything else that is signed, and approvals apart from delegations. */
export const PROOF_DOMAIN = 'countersign approval 1';
export const DELEGATION_DOMAIN = 'countersign delegation 1';

/** The extent of an approval: this call alone, further calls on terms, or these steps of a plan. */
export type Scope = 'once' | { readonly grant: JsonObject } | { readonly plan: readonly number[] };

/** Everything that an approver signs. */
export interface ApprovalTerms {
  readonly domain: string;
  readonly workspace: string;
  readonly request: string;
  /** The digest of what will run. */
  readonly digest: string;
  readonly decision: 'approve';
  readonly scope: Scope;
  readonly voter: string;
  /** The approver in whose place the person votes. */
  readonly onBehalfOf: string | null;
  readonly nonce: string;
  /** In ms. */
  readonly expiry: number;
}

/** Everything that an approver signs who lets somebody else decide for them. */
export interface DelegationTerms {
  readonly domain: string;
  readonly workspace: string;
  readonly delegation: string;
  readonly from: string;
  readonly to: string;
  /** In ms. */
  readonly until: number;
  /** The policies under which it counts. */
  readonly policies: readonly string[];
  readonly nonce: string;
  /** In ms. */
  readonly expiry: number;
}

/** A public key as WebCrypto imports it. Authenticators have no others that every browser can check. */
export type PublicJwk =
  | { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  | { readonly kty: 'RSA'; readonly n: string; readonly e: string };

/** The key that signs, as it was enrolled. */
export interface EnrolledKey {
  /** The id of the credential, as base64url. */
  readonly credential: string;
  readonly jwk: PublicJwk;
  /** The origin of the page, and the host that the key is bound to. */
  readonly origin: string;
  readonly rpId: string;
}

/** The answer of an authenticator; all bytes are base64url. */
interface Answered {
  readonly key: EnrolledKey;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
}

export interface DelegationProof extends Answered {
  readonly terms: DelegationTerms;
}

/** The answer of an authenticator with the approval that it signed; one in the place of somebody comes with what that person signed. */
export interface ApprovalProof extends Answered {
  readonly terms: ApprovalTerms;
  readonly delegation?: DelegationProof | undefined;
}

/** The reason why a proof proves nothing. */
export type ProofProblem =
  | 'unreadable'
  | 'other-terms'
  | 'wrong-origin'
  | 'wrong-site'
  | 'not-verified'
  | 'wrong-signature';

const [PRESENT, VERIFIED] = [0x01, 0x04];
const FLAGS_AT = 32;
const COUNTER_AT = 33;
const SHORTEST = 37;

/** Computes what an authenticator signs for these terms. */
export async function challengeOf(terms: ApprovalTerms | DelegationTerms): Promise<string> {
  return toBase64url(await sha256(new TextEncoder().encode(canonicalJson({ ...terms }))));
}

/**
 * Checks that a key signed these terms, on its own page and by a person whom the authenticator had verified. It needs nothing but WebCrypto:
 * the page, the check before a start, `audit verify` and the browser all call it.
 */
export async function proofProblem(
  proof: ApprovalProof | DelegationProof,
): Promise<ProofProblem | undefined> {
  const { terms, key } = proof;
  const data = fromBase64url(proof.authenticatorData);
  const client = fromBase64url(proof.clientDataJSON);
  const signature = fromBase64url(proof.signature);
  if (data === undefined || client === undefined || signature === undefined) return 'unreadable';
  const said = readClientData(client);
  if (said === undefined || data.length < SHORTEST) return 'unreadable';
  const domain = 'delegation' in terms ? DELEGATION_DOMAIN : PROOF_DOMAIN;
  if (said.challenge !== (await challengeOf(terms)) || terms.domain !== domain) return 'other-terms';
  if (said.type !== 'webauthn.get' || said.origin !== key.origin || said.crossOrigin === true)
    return 'wrong-origin';
  const site = await sha256(new TextEncoder().encode(key.rpId));
  if (!site.every((byte, index) => byte === data[index])) return 'wrong-site';
  const flags = data[FLAGS_AT] ?? 0;
  if ((flags & PRESENT) === 0 || (flags & VERIFIED) === 0) return 'not-verified';
  const signed = new Uint8Array([...data, ...(await sha256(client))]);
  return (await isSigned(key.jwk, signature, signed)) ? undefined : 'wrong-signature';
}

/** Reads how often the key has signed; 0 for a key that does not count, as synced ones do. */
export function counterOf({ authenticatorData }: Pick<ApprovalProof, 'authenticatorData'>): number {
  const data = fromBase64url(authenticatorData) ?? new Uint8Array();
  return data.slice(COUNTER_AT, SHORTEST).reduce((sum, byte) => sum * 256 + byte, 0);
}

/** Tells whether a counter goes on from the last one: it rises, or the key does not count at all. */
export function isCounterAhead(last: number, next: number): boolean {
  return next > last || (next === 0 && last === 0);
}

/** Reads a proof as the log and the record keep it; `undefined` if it is none. */
export function readProof(value: JsonValue | undefined): ApprovalProof | undefined {
  const answered = readAnswered(value);
  const terms = isJsonObject(value) ? readTerms(value.terms) : undefined;
  if (!isJsonObject(value) || answered === undefined || terms === undefined) return undefined;
  const delegation = readDelegationProof(value.delegation);
  if (value.delegation !== undefined && delegation === undefined) return undefined;
  return { terms, ...answered, ...(delegation !== undefined && { delegation }) };
}

/** Reads the proof of a delegation; `undefined` if it is none. */
export function readDelegationProof(value: JsonValue | undefined): DelegationProof | undefined {
  const answered = readAnswered(value);
  const terms = isJsonObject(value) ? readDelegationTerms(value.terms) : undefined;
  return answered === undefined || terms === undefined ? undefined : { terms, ...answered };
}

function readAnswered(value: JsonValue | undefined): Answered | undefined {
  if (!isJsonObject(value)) return undefined;
  const { authenticatorData, clientDataJSON, signature } = value;
  const key = readKey(value.key);
  if (key === undefined || typeof authenticatorData !== 'string') return undefined;
  if (typeof clientDataJSON !== 'string' || typeof signature !== 'string') return undefined;
  return { key, authenticatorData, clientDataJSON, signature };
}

function readDelegationTerms(value: JsonValue | undefined): DelegationTerms | undefined {
  if (!isJsonObject(value)) return undefined;
  const { domain, workspace, delegation, from, to, until, policies, nonce, expiry } = value;
  const texts = [domain, workspace, delegation, from, to, nonce];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  if (typeof until !== 'number' || typeof expiry !== 'number') return undefined;
  if (!Array.isArray(policies) || !policies.every((name) => typeof name === 'string')) return undefined;
  return {
    domain: String(domain),
    workspace: String(workspace),
    delegation: String(delegation),
    from: String(from),
    to: String(to),
    until,
    policies: policies.map(String),
    nonce: String(nonce),
    expiry,
  };
}

function readTerms(value: JsonValue | undefined): ApprovalTerms | undefined {
  if (!isJsonObject(value)) return undefined;
  const { domain, workspace, request, digest, decision, voter, onBehalfOf, nonce, expiry } = value;
  const scope = readScope(value.scope);
  const texts = [domain, workspace, request, digest, voter, nonce];
  const isWhole = texts.every((text) => typeof text === 'string') && decision === 'approve';
  if (!isWhole || scope === undefined || typeof expiry !== 'number') return undefined;
  if (onBehalfOf !== null && typeof onBehalfOf !== 'string') return undefined;
  return {
    domain: String(domain),
    workspace: String(workspace),
    request: String(request),
    digest: String(digest),
    decision,
    scope,
    voter: String(voter),
    onBehalfOf,
    nonce: String(nonce),
    expiry,
  };
}

function readScope(value: JsonValue | undefined): Scope | undefined {
  if (value === 'once') return value;
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value.grant)) return { grant: value.grant };
  const { plan } = value;
  return Array.isArray(plan) && plan.every((step) => typeof step === 'number')
    ? { plan: plan.map(Number) }
    : undefined;
}

/** Reads a key as the log keeps it; `undefined` if it is none. */
export function readKey(value: JsonValue | undefined): EnrolledKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { credential, origin, rpId } = value;
  const jwk = readJwk(value.jwk);
  if (jwk === undefined || typeof credential !== 'string') return undefined;
  return typeof origin === 'string' && typeof rpId === 'string'
    ? { credential, jwk, origin, rpId }
    : undefined;
}

function readJwk(value: JsonValue | undefined): PublicJwk | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kty, crv, x, y, n, e } = value;
  if (kty === 'EC' && crv === 'P-256' && typeof x === 'string' && typeof y === 'string')
    return { kty, crv, x, y };
  return kty === 'RSA' && typeof n === 'string' && typeof e === 'string' ? { kty, n, e } : undefined;
}

interface ClientData {
  readonly type: JsonValue | undefined;
  readonly challenge: JsonValue | undefined;
  readonly origin: JsonValue | undefined;
  readonly crossOrigin: JsonValue | undefined;
}

function readClientData(bytes: Uint8Array): ClientData | undefined {
  try {
    const value: JsonValue = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!isJsonObject(value)) return undefined;
    const { type, challenge, origin, crossOrigin } = value;
    return { type, challenge, origin, crossOrigin };
  } catch {
    return undefined;
  }
}

async function isSigned(jwk: PublicJwk, signature: Bytes, signed: Bytes): Promise<boolean> {
  const algorithm =
    jwk.kty === 'EC'
      ? { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
      : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const bytes = jwk.kty === 'EC' ? rawSignature(signature) : signature;
  if (bytes === undefined) return false;
  try {
    const key = await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, false, ['verify']);
    return await crypto.subtle.verify(algorithm, key, bytes, signed);
  } catch {
    // A key that is none has signed nothing.
    return false;
  }
}

const NUMBER_LENGTH = 32;

/** Turns the DER form of an ECDSA signature, which authenticators write, into the two numbers that WebCrypto reads. */
function rawSignature(der: Uint8Array): Bytes | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(2 * NUMBER_LENGTH);
  let at = 2;
  for (const end of [NUMBER_LENGTH, 2 * NUMBER_LENGTH]) {
    const length = der[at + 1] ?? 0;
    if (der[at] !== 0x02 || length === 0) return undefined;
    const number = der.slice(at + 2, at + 2 + length);
    const digits = number.slice(number.findIndex((byte) => byte !== 0));
    if (number.length !== length || digits.length > NUMBER_LENGTH) return undefined;
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function toBase64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Reads base64url in its one form; `undefined` for anything else, so that no two texts are the same bytes. */
function fromBase64url(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
    return toBase64url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
