import { hash, randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, type JsonObject, type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { Json, JsonRecord } from '../agent/json-schema.ts';
import { policiesNamed } from '../policy/policy.ts';
import {
  type ApprovalProof,
  type ApprovalTerms,
  counterOf,
  type DelegationProof,
  type DelegationTerms,
  type EnrolledKey,
  isCounterAhead,
  type ProofProblem,
  proofProblem,
  readDelegationProof,
  readKey,
  readProof,
} from '../policy/proof.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Vote } from '../store/port/values.ts';
import type { Voter } from './ports.ts';

const KEYS = 'passkeys';
const OWNERS = 'passkey-owners';
const LINKS = 'passkey-links';
/** A link to approve works this long. */
const LINK_MS = 600_000;

const Key = z.custom<EnrolledKey>((value) => readKey(toJson(value)) !== undefined);
const Passkey = z.object({
  key: Key,
  name: z.string(),
  /** The number of its signatures when it was last used. */
  counter: z.number(),
  transports: z.array(z.string()),
  addedAt: z.number(),
  /** It counts from this time; `null` until an admin has confirmed it. */
  countsFrom: z.number().nullable(),
  confirmedBy: z.string().optional(),
});
/** A person's key on record. */
export type Passkey = Readonly<z.infer<typeof Passkey>>;

interface HeldKeys {
  readonly version: string;
  readonly keys: readonly Passkey[];
}

/** Reads the keys of a person, also those that do not count yet. */
export async function readPasskeys(
  store: Pick<DocumentStore, 'readDocument'>,
  who: string,
): Promise<HeldKeys> {
  const { version = '', value = '[]' } = (await store.readDocument(KEYS, who)) ?? {};
  return { version, keys: z.array(Passkey).parse(JSON.parse(value)) };
}

/** Tells whether a key counts now. */
export function countsNow({ countsFrom }: Passkey, now = Date.now()): boolean {
  return countsFrom !== null && countsFrom <= now;
}

/** Digits and letters that nobody takes for one another when they are read aloud: 32 of them, so five bits each. */
const CODE_LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 12;

/** Returns a code of 60 bits of a key, by which two people can tell that they mean the same one: of the public key, since its holder chooses the id. */
export function codeOf({ key: { jwk } }: Passkey): string {
  const bytes = hash('sha256', canonicalJson(toJson(jwk)), 'buffer');
  const letters = [...bytes.subarray(0, CODE_LENGTH)].map((byte) => CODE_LETTERS[byte % CODE_LETTERS.length]);
  return letters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
}

function isCode(passkey: Passkey, typed: string): boolean {
  return codeOf(passkey).replaceAll('-', '') === typed.replaceAll('-', '').toUpperCase();
}

/** A change of somebody's keys, with its row in the audit log. */
interface KeyChange {
  readonly keys: readonly Passkey[];
  readonly event: 'passkey-added' | 'passkey-confirmed' | 'passkey-renamed' | 'passkey-removed';
  readonly changed: Passkey;
}

/** Changes the keys of a person, and writes it to the audit log in the same step; what another process writes meanwhile is looked at first. */
async function changeKeys(
  store: DocumentStore,
  { who, by, evidence }: { readonly who: string; readonly by: string; readonly evidence: JsonObject },
  next: (keys: readonly Passkey[]) => KeyChange | undefined,
): Promise<Passkey | undefined> {
  for (;;) {
    const { version, keys } = await readPasskeys(store, who);
    const change = next(keys);
    if (change === undefined) return undefined;
    const { event, changed } = change;
    const { key, name, countsFrom } = changed;
    const written = await store.writeDocument(
      KEYS,
      who,
      { version: randomUUID(), value: JSON.stringify(change.keys) },
      {
        replaces: version,
        audit: {
          event,
          subject: `passkey:${who}`,
          detail: `${key.credential} ${by}`,
          body: { who, by, key: toJson(key), name, countsFrom, evidence },
        },
      },
    );
    if (written === 'written') return changed;
  }
}

/** Makes a person the only owner of a key, for good, by its id and by its public key; false if either is somebody else's. */
async function claimKey(store: DocumentStore, who: string, { key }: Passkey): Promise<boolean> {
  const names = [key.credential, canonicalJson(toJson(key.jwk))].map((name) => hash('sha256', name));
  for (const name of names) {
    await store.writeDocument(OWNERS, name, { version: randomUUID(), value: who }, { replaces: '' });
    if ((await store.readDocument(OWNERS, name))?.value !== who) return false;
  }
  return true;
}

/** Adds a key that a person has just shown; `undefined` if they have it already, or somebody else had it. */
export async function addPasskey(
  store: DocumentStore,
  who: string,
  added: Passkey,
  evidence: JsonObject,
): Promise<Passkey | undefined> {
  if (!(await claimKey(store, who, added))) return undefined;
  return changeKeys(store, { who, by: who, evidence }, (keys) =>
    keys.some(({ key }) => key.credential === added.key.credential)
      ? undefined
      : { keys: [...keys, added], event: 'passkey-added', changed: added },
  );
}

/** Lets a key of another person count from now on; `undefined` if there is none with this code that still waits. */
export function confirmPasskey(
  store: DocumentStore,
  { who, by, code }: { readonly who: string; readonly by: string; readonly code: string },
  evidence: JsonObject,
): Promise<Passkey | undefined> {
  return changeKeys(store, { who, by, evidence }, (keys) => {
    const meant = keys.filter((each) => isCode(each, code) && !countsNow(each));
    const [only, second] = meant;
    if (only === undefined || second !== undefined) return undefined;
    const changed = { ...only, countsFrom: Date.now(), confirmedBy: by };
    return {
      keys: keys.map((each) => (each === only ? changed : each)),
      event: 'passkey-confirmed',
      changed,
    };
  });
}

export function renamePasskey(
  store: DocumentStore,
  { who, credential, name }: { readonly who: string; readonly credential: string; readonly name: string },
): Promise<Passkey | undefined> {
  return changeKeys(store, { who, by: who, evidence: {} }, (keys) => {
    const found = keys.find(({ key }) => key.credential === credential);
    if (found === undefined) return undefined;
    const changed = { ...found, name };
    return { keys: keys.map((each) => (each === found ? changed : each)), event: 'passkey-renamed', changed };
  });
}

/** Removes a key; from now on nothing that it signed starts. */
export function removePasskey(
  store: DocumentStore,
  { who, credential }: { readonly who: string; readonly credential: string },
): Promise<Passkey | undefined> {
  return changeKeys(store, { who, by: who, evidence: {} }, (keys) => {
    const changed = keys.find(({ key }) => key.credential === credential);
    if (changed === undefined) return undefined;
    return { keys: keys.filter((each) => each !== changed), event: 'passkey-removed', changed };
  });
}

const Link = z.object({
  requestId: z.string(),
  who: z.string(),
  /** The approval as the person chose it in Slack. */
  grants: z.boolean().optional(),
  steps: z.array(z.number()).optional(),
  shown: z.string().optional(),
  reason: z.string().optional(),
  expiry: z.number(),
});
/** A one-time link by which one person approves one request. */
export type ApprovalLink = Readonly<z.infer<typeof Link>> & { readonly nonce: string };
export type NewLink = Omit<ApprovalLink, 'nonce' | 'expiry'>;

const ToDelegate = z.object({
  delegation: z.string(),
  who: z.string(),
  /** The policies under which the person approves, and which allow delegation. */
  policies: z.array(z.string()),
  expiry: z.number(),
});
/** A one-time link by which one person signs a delegation of theirs. */
export type DelegationLink = Readonly<z.infer<typeof ToDelegate>> & { readonly nonce: string };

/** Makes a link; it ends by itself. */
export async function openLink(
  store: Pick<DocumentStore, 'writeDocument'>,
  link: NewLink | Omit<DelegationLink, 'nonce' | 'expiry'>,
): Promise<{ readonly nonce: string }> {
  const nonce = randomBytes(24).toString('base64url');
  const whole = { ...link, expiry: Date.now() + LINK_MS };
  const document = { version: randomUUID(), value: JSON.stringify(whole) };
  await store.writeDocument(LINKS, nonce, document, { replaces: '', forMs: LINK_MS });
  return { nonce };
}

/** Uses a link up. */
export async function closeLink(store: Pick<DocumentStore, 'writeDocument'>, nonce: string): Promise<void> {
  await store.writeDocument(LINKS, nonce, undefined);
}

/** Reads a link to approve; `undefined` if it was used, is over, or never was. */
export function readLink(
  store: Pick<DocumentStore, 'readDocument'>,
  nonce: string,
): Promise<ApprovalLink | undefined> {
  return readOneTime(store, nonce, Link);
}

/** Reads a link to sign a delegation; `undefined` as of a link to approve. */
export function readDelegationLink(
  store: Pick<DocumentStore, 'readDocument'>,
  nonce: string,
): Promise<DelegationLink | undefined> {
  return readOneTime(store, nonce, ToDelegate);
}

async function readOneTime<What extends { readonly expiry: number }>(
  store: Pick<DocumentStore, 'readDocument'>,
  nonce: string,
  schema: z.ZodType<What>,
): Promise<(What & { readonly nonce: string }) | undefined> {
  const found = await store.readDocument(LINKS, nonce);
  const { data } = schema.safeParse(tryParseJson(found?.value ?? ''));
  return data === undefined || data.expiry <= Date.now() ? undefined : { ...data, nonce };
}

/** The reason why a proof is not taken: it proves nothing, is about something else, or its key does not count. */
export type ProofRefusal =
  | ProofProblem
  | 'link-used'
  | 'other-person'
  | 'not-as-shown'
  | 'other-scope'
  | 'not-delegated'
  | 'no-key'
  | 'key-waits'
  | 'counter';

/** Checks a proof against the terms that hold now and the keys of the person; returns it as the vote records it. */
export async function checkProof(
  store: Pick<DocumentStore, 'readDocument'>,
  assertion: Assertion,
  expected: ApprovalTerms,
  delegation: JsonObject | undefined,
): Promise<{ readonly refusal: ProofRefusal } | { readonly proof: NonNullable<Vote['proof']> }> {
  const { voter, onBehalfOf } = expected;
  const { version, keys } = await readPasskeys(store, voter);
  const held = keys.find(({ key }) => key.credential === assertion.credential);
  const refusal = held === undefined ? 'no-key' : await refusalOf(held, assertion, expected);
  if (held === undefined || refusal !== undefined) return { refusal: refusal ?? 'no-key' };
  const signed = readDelegationProof(delegation);
  if (onBehalfOf !== null && signed?.terms.workspace !== expected.workspace)
    return { refusal: 'not-delegated' };
  const proof = { ...proofOf(held, assertion), ...(onBehalfOf !== null && { delegation }) };
  return {
    proof: {
      body: JsonRecord.parse(toJson(proof)),
      link: [LINKS, expected.nonce],
      keys: { name: [KEYS, voter], seen: version, next: usedKeys(keys, held, proof) },
    },
  };
}

/** Writes the keys of a person after one of them has signed. */
function usedKeys(
  keys: readonly Passkey[],
  held: Passkey,
  proof: Pick<ApprovalProof, 'authenticatorData'>,
): { readonly version: string; readonly value: string } {
  const used = keys.map((each) => (each === held ? { ...each, counter: counterOf(proof) } : each));
  return { version: randomUUID(), value: JSON.stringify(used) };
}

/** Checks what a person signed for a delegation of theirs, and counts the use of their key; returns it as it is recorded. */
export async function takeDelegationProof(
  store: DocumentStore,
  assertion: Assertion,
  expected: DelegationTerms,
): Promise<{ readonly refusal: ProofRefusal | 'keys-changed' } | { readonly proof: JsonObject }> {
  const { from } = expected;
  const { version, keys } = await readPasskeys(store, from);
  const held = keys.find(({ key }) => key.credential === assertion.credential);
  if (held === undefined) return { refusal: 'no-key' };
  const proof = readDelegationProof(toJson(proofOf(held, assertion)));
  if (proof === undefined) return { refusal: 'unreadable' };
  if (canonicalJson({ ...proof.terms }) !== canonicalJson({ ...expected }))
    return { refusal: 'not-as-shown' };
  const refusal = await keyRefusalOf(held, proof);
  if (refusal !== undefined) return { refusal };
  const next = usedKeys(keys, held, proof);
  if ((await store.writeDocument(KEYS, from, next, { replaces: version })) !== 'written')
    return { refusal: 'keys-changed' };
  return { proof: JsonRecord.parse(toJson(proof)) };
}

/** The terms that a browser had signed, and the answer of the authenticator. */
export const Assertion = z.object({
  nonce: z.string().max(100),
  terms: Json,
  credential: z.string().max(2_000),
  authenticatorData: z.string().max(10_000),
  clientDataJSON: z.string().max(10_000),
  signature: z.string().max(10_000),
});
export type Assertion = Readonly<z.infer<typeof Assertion>>;

async function refusalOf(
  held: Passkey,
  assertion: Assertion,
  expected: ApprovalTerms,
): Promise<ProofRefusal | undefined> {
  const proof = readProof(toJson(proofOf(held, assertion)));
  if (proof === undefined) return 'unreadable';
  const { terms } = proof;
  if (terms.nonce !== expected.nonce || terms.expiry !== expected.expiry) return 'link-used';
  if (terms.voter !== expected.voter || terms.onBehalfOf !== expected.onBehalfOf) return 'other-person';
  if (canonicalJson({ scope: terms.scope }) !== canonicalJson({ scope: expected.scope }))
    return 'other-scope';
  if (canonicalJson({ ...terms }) !== canonicalJson({ ...expected })) return 'not-as-shown';
  return keyRefusalOf(held, proof);
}

async function keyRefusalOf(
  held: Passkey,
  proof: ApprovalProof | DelegationProof,
): Promise<ProofRefusal | undefined> {
  const problem = await proofProblem(proof);
  if (problem !== undefined) return problem;
  if (!countsNow(held)) return 'key-waits';
  return isCounterAhead(held.counter, counterOf(proof)) ? undefined : 'counter';
}

function proofOf(
  { key }: Passkey,
  assertion: Assertion,
): Omit<ApprovalProof, 'terms' | 'delegation'> & { terms: JsonValue } {
  const { terms, authenticatorData, clientDataJSON, signature } = assertion;
  return { terms, key, authenticatorData, clientDataJSON, signature };
}

/** The request that people approved: that of the call itself, or of its plan. */
export type ApprovedAs = Pick<RequestRecord, 'id' | 'digest' | 'policy' | 'details' | 'steps'>;

/** Tells whether a key is among those of a person. */
export async function holdsKey(
  store: Pick<DocumentStore, 'readDocument'>,
  who: string,
  key: EnrolledKey,
): Promise<boolean> {
  const text = canonicalJson({ key: toJson(key) });
  const { keys } = await readPasskeys(store, who);
  return keys.some((held) => canonicalJson({ key: toJson(held.key) }) === text);
}

/** The policy of a request, in what the record keeps of it. */
const UnderPolicy = z.object({ policy: z.object({ name: z.string() }) });

/**
 * Lists the people whose approval is not proven now: their passkey did not sign exactly this, or it is not among their keys any more; and
 * who approved for somebody whose own passkey did not sign that. Nobody, if the policy asks for no passkeys.
 */
export async function unprovenOf(
  store: Pick<DocumentStore, 'readDocument'>,
  { id, digest, policy, details }: ApprovedAs,
  approvers: readonly Voter[],
): Promise<readonly string[]> {
  if (policy.passkey !== true) return [];
  const policyName = UnderPolicy.safeParse(details).data?.policy.name;
  const proven = await Promise.all(
    approvers.map(async ({ who, standsFor, proof: recorded }) => {
      const proof = readProof(recorded);
      if (proof === undefined) return false;
      const { terms, key } = proof;
      const isThis = terms.request === id && terms.digest === digest;
      const isTheirs = terms.voter === who && terms.onBehalfOf === (standsFor ?? null);
      const isHeld = await holdsKey(store, who, key);
      if (!isThis || !isTheirs || !isHeld || (await proofProblem(proof)) !== undefined) return false;
      return standsFor === undefined || isSignedFor(store, proof, standsFor, policyName);
    }),
  );
  return approvers.flatMap(({ who }, index) => (proven[index] === true ? [] : [who]));
}

/** Tells whether an approver signed that somebody may approve in their place; the link to approve was opened before that was over. */
async function isSignedFor(
  store: Pick<DocumentStore, 'readDocument'>,
  { terms, delegation }: ApprovalProof,
  from: string,
  policyName: string | undefined,
): Promise<boolean> {
  if (delegation?.terms.workspace !== terms.workspace) return false;
  const at = terms.expiry - LINK_MS;
  return isDelegationProven(store, delegation, { from, to: terms.voter, policyName, at });
}

/**
 * Tells whether the passkey of an approver signed that somebody decides for them under a policy, and is still theirs, at a time before its
 * end.
 */
export async function isDelegationProven(
  store: Pick<DocumentStore, 'readDocument'>,
  proof: DelegationProof | undefined,
  {
    from,
    to,
    policyName,
    at,
  }: {
    readonly from: string;
    readonly to: string;
    readonly policyName?: string | undefined;
    readonly at: number;
  },
): Promise<boolean> {
  if (proof === undefined || policyName === undefined) return false;
  const { terms, key } = proof;
  const isTheirs = terms.from === from && terms.to === to && at < terms.until;
  const isCovered = policiesNamed(policyName).every((name) => terms.policies.includes(name));
  if (!isTheirs || !isCovered || !(await holdsKey(store, from, key))) return false;
  return (await proofProblem(proof)) === undefined;
}
