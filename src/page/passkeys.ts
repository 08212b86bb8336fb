import { randomUUID } from 'node:crypto';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import type { Directory } from '../bot/slack/directory.ts';
import { threadIdOf } from '../bot/slack/thread.ts';
import { momentText } from '../bot/views/texts/format.ts';
import { grantTexts } from '../bot/views/texts/grants.ts';
import { passkeyTexts } from '../bot/views/texts/passkeys.ts';
import { escapeMarkup, showLine } from '../bot/views/texts/show-text.ts';
import { redrawForKeys } from '../engine/asks/passkey-cards.ts';
import {
  Assertion,
  addPasskey,
  codeOf,
  countsNow,
  type Passkey,
  readPasskeys,
  removePasskey,
  renamePasskey,
} from '../engine/passkeys.ts';
import { readDetails } from '../engine/request-details.ts';
import { type HttpAnswer, jsonAnswer, refusal } from '../http/http-answer.ts';
import { type ApprovalTerms, challengeOf, type DelegationTerms, type PublicJwk } from '../policy/proof.ts';
import type { Delegation } from '../store/documents/delegations.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Store } from '../store/port/store.ts';
import type { PageDeclaration } from '../tools/manifest/manifest.ts';
import { readableName } from '../tools/presentation/formats.ts';
import type { Approval, Approved, Fact, PasskeyItem, Passkeys, RequestView } from './protocol.ts';
import { pageTexts } from './texts.ts';
import type { Viewer } from './viewer.ts';

/** What a person signs with one of these keys: an approval, or a delegation of theirs. */
type Prepared = { readonly keys: readonly Passkey[] } & (
  | { readonly request: RequestRecord; readonly terms: ApprovalTerms }
  | { readonly delegation: Delegation; readonly terms: DelegationTerms }
);

/** The one thing that the page lets people decide: what their passkey signs. The bot checks and records it. */
export interface Signing {
  /** Returns what a person signs by a one-time link, or a sentence. */
  readonly prepare: (who: string, nonce: string) => Promise<Prepared | string>;
  /** Records what was signed; returns the sentence for the person if there is one. */
  readonly approve: (
    who: string,
    assertion: Assertion,
  ) => Promise<{ readonly isApproved: boolean; readonly notice: string | undefined }>;
}

export interface PasskeyContext {
  readonly store: Store;
  readonly directory: Directory;
  readonly admins: () => readonly string[];
  /** The page as the manifest has it. */
  readonly declared: PageDeclaration;
  /** The address at which browsers reach the page. */
  readonly origin: string;
  readonly signing: Signing;
}

export interface PasskeyCall {
  readonly context: PasskeyContext;
  readonly viewer: Viewer;
  /** What the path names: a request, or the nonce of a one-time link. */
  readonly id: string;
  readonly body: string;
  /** When the person signed in afresh. */
  readonly freshAt: number;
}

/** A key is added or removed at most so long after a fresh sign-in. */
const FRESH_MS = 600_000;
const ENROLMENTS = 'passkey-enrolments';
const MOST_KEYS = 10;
/** ES256 and RS256: every browser can check these. */
const ALGORITHMS = [-7, -257];
const Name = z.string().trim().min(1).max(60);

/** Loads the library when somebody adds a key: it is large, and few bots need it. */
const webAuthn = () => import('@simplewebauthn/server');

/** Lists the person's own keys. */
export async function listPasskeys({ context, viewer, freshAt }: PasskeyCall): Promise<HttpAnswer> {
  const { keys } = await readPasskeys(context.store, viewer.who);
  return jsonAnswer(200, { keys: keys.map(itemOf), isFresh: isFresh(freshAt) } satisfies Passkeys);
}

function itemOf(passkey: Passkey): PasskeyItem {
  const { key, name, addedAt } = passkey;
  return {
    credential: key.credential,
    name: showLine(name),
    code: codeOf(passkey),
    addedAt,
    isConfirmed: countsNow(passkey),
    ...countsOf(passkey),
  };
}

/** Says whether a key counts; a time goes to the browser, which knows the reader's time zone. */
function countsOf(passkey: Passkey): Pick<PasskeyItem, 'counts' | 'countsFrom'> {
  const { countsFrom } = passkey;
  if (countsFrom === null) return { counts: passkeyTexts.countsAfterConfirmation };
  return countsNow(passkey) ? { counts: passkeyTexts.counts } : { counts: pageTexts.countsFrom, countsFrom };
}

function countsInWords(passkey: Passkey): string {
  const { counts, countsFrom } = countsOf(passkey);
  return countsFrom === undefined ? counts : passkeyTexts.countsFrom(momentText(countsFrom));
}

function isFresh(freshAt: number): boolean {
  return Date.now() - freshAt < FRESH_MS;
}

/** Begins an enrolment: only somebody who has just signed in afresh. */
export async function offerPasskey({ context, viewer, freshAt }: PasskeyCall): Promise<HttpAnswer> {
  if (!isFresh(freshAt)) return refusal(403, pageTexts.signInAgain);
  const { store, origin } = context;
  const { who, name } = viewer;
  const { keys } = await readPasskeys(store, who);
  if (keys.length >= MOST_KEYS) return refusal(409, pageTexts.manyKeys);
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: pageTexts.title,
    rpID: rpIdOf(origin),
    userName: name,
    userDisplayName: name,
    userID: new TextEncoder().encode(who),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: keys.map(({ key }) => ({ id: key.credential })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  });
  const document = { version: randomUUID(), value: options.challenge };
  await store.writeDocument(ENROLMENTS, who, document, { forMs: FRESH_MS });
  return jsonAnswer(200, options);
}

const NewKey = z.object({ name: Name, response: z.custom<RegistrationResponseJSON>() });

/** Takes a new key. It does not count yet, and the person and the admins are told. */
export async function takePasskey({ context, viewer, body, freshAt }: PasskeyCall): Promise<HttpAnswer> {
  if (!isFresh(freshAt)) return refusal(403, pageTexts.signInAgain);
  const { store, origin, declared } = context;
  const { who } = viewer;
  const given = NewKey.safeParse(tryParseJson(body)).data;
  const begun = await store.readDocument(ENROLMENTS, who);
  if (given === undefined || begun === undefined) return refusal(400, pageTexts.keyNotTaken);
  await store.writeDocument(ENROLMENTS, who, undefined);
  const shown = await verifyKey(given.response, begun.value, origin);
  if (shown === undefined) return refusal(400, pageTexts.keyNotTaken);
  const now = Date.now();
  // A sign-in with Slack proves no more than a click in Slack does, so somebody else has to confirm the key.
  const countsFrom = declared.issuer === undefined ? null : now + declared.passkeyWaitMs;
  const added = await addPasskey(
    store,
    who,
    { ...shown, name: given.name, addedAt: now, countsFrom },
    { signedInAt: freshAt, provider: declared.issuer ?? 'Slack' },
  );
  if (added === undefined) return refusal(409, pageTexts.keyKnown);
  const [name, code, when] = [escapeMarkup(showLine(added.name)), codeOf(added), countsInWords(added)];
  await tell(context, who, passkeyTexts.added(name, code, when));
  for (const admin of context.admins())
    if (admin !== who) await tell(context, admin, passkeyTexts.toConfirm(who, name, when));
  return jsonAnswer(200, itemOf(added));
}

async function verifyKey(response: RegistrationResponseJSON, expectedChallenge: string, origin: string) {
  const rpId = rpIdOf(origin);
  const { verifyRegistrationResponse } = await webAuthn();
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    const jwk = registrationInfo && (await jwkOf(registrationInfo.credential.publicKey));
    if (registrationInfo === undefined || jwk === undefined) return undefined;
    const { id, counter, transports = [] } = registrationInfo.credential;
    return { key: { credential: id, jwk, origin, rpId }, counter, transports: [...transports] };
  } catch {
    // The library throws for each answer that does not fit.
    return undefined;
  }
}

/** Reads a COSE key; `undefined` if it is none that every browser can check. */
async function jwkOf(publicKey: Uint8Array<ArrayBuffer>): Promise<PublicJwk | undefined> {
  const { decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const decoded: unknown = decodeCredentialPublicKey(publicKey);
  const cose = decoded instanceof Map ? decoded : new Map<unknown, unknown>();
  const bytes = (label: number) => {
    const value = cose.get(label);
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : '';
  };
  if (cose.get(COSE.kty) === COSE.ec && cose.get(-1) === COSE.p256)
    return { kty: 'EC', crv: 'P-256', x: bytes(-2), y: bytes(-3) };
  return cose.get(COSE.kty) === COSE.rsa ? { kty: 'RSA', n: bytes(-1), e: bytes(-2) } : undefined;
}

/** Labels and values of RFC 9053. */
const COSE = { kty: 1, ec: 2, rsa: 3, p256: 1 } as const;

const Renamed = z.object({ credential: z.string(), name: Name });

export async function changeName({ context, viewer, body }: PasskeyCall): Promise<HttpAnswer> {
  const { data } = Renamed.safeParse(tryParseJson(body));
  const renamed = data && (await renamePasskey(context.store, { who: viewer.who, ...data }));
  return renamed === undefined ? refusal(404, pageTexts.notFound) : jsonAnswer(200, itemOf(renamed));
}

const Removed = z.object({ credential: z.string() });

/** Removes a key; it counts no more at once. Only somebody who has just signed in afresh can. */
export async function dropPasskey({ context, viewer, body, freshAt }: PasskeyCall): Promise<HttpAnswer> {
  if (!isFresh(freshAt)) return refusal(403, pageTexts.signInAgain);
  const { data } = Removed.safeParse(tryParseJson(body));
  const removed = data && (await removePasskey(context.store, { who: viewer.who, ...data }));
  if (removed === undefined) return refusal(404, pageTexts.notFound);
  await tell(context, viewer.who, passkeyTexts.removed(escapeMarkup(showLine(removed.name))));
  await redrawForKeys(context, viewer.who, `passkey ${randomUUID()}`);
  return jsonAnswer(200, itemOf(removed));
}

/** Sends a direct message, also if this process dies now. */
async function tell({ store }: PasskeyContext, user: string, text: string): Promise<void> {
  await store.enqueueOutbox(threadIdOf({ channel: user, threadTs: '' }), {
    id: `passkey/${randomUUID()}`,
    body: { kind: 'private', user, text },
  });
}

/** Shows what the person would sign: the request from the stored bytes and what the approval covers, or a delegation. */
export async function showApproval(
  { context, viewer, id: nonce }: PasskeyCall,
  viewOf: (request: RequestRecord) => Promise<RequestView>,
): Promise<HttpAnswer> {
  const prepared = await context.signing.prepare(viewer.who, nonce);
  if (typeof prepared === 'string') return refusal(409, await inPlainWords(context, prepared));
  const isApproval = 'request' in prepared;
  const { terms, keys } = prepared;
  return jsonAnswer(200, {
    ...(isApproval && { request: await viewOf(prepared.request) }),
    rpId: rpIdOf(context.origin),
    challenge: await challengeOf(terms),
    covers: isApproval
      ? await coversOf(context, prepared.request, prepared.terms)
      : await delegationFacts(context, prepared.delegation, prepared.terms),
    ...(isApproval && { digest: { label: pageTexts.digest, text: prepared.terms.digest } }),
    terms: objectOf(toJson(terms)),
    keys: keys.map(({ key, transports }) => ({ id: key.credential, transports })),
  } satisfies Approval);
}

async function delegationFacts(
  { directory }: PasskeyContext,
  { reason }: Delegation,
  { to, until, policies }: DelegationTerms,
): Promise<readonly Fact[]> {
  return [
    { label: pageTexts.decidesForYou, text: showLine(await nameOf(directory, to)) },
    { label: pageTexts.until, text: momentText(until) },
    ...(reason === '' ? [] : [{ label: pageTexts.reason, text: showLine(reason) }]),
    { label: pageTexts.policies, text: showLine(policies.join(', ')) },
  ];
}

async function coversOf(
  { directory }: PasskeyContext,
  request: RequestRecord,
  { scope, onBehalfOf }: ApprovalTerms,
): Promise<readonly Fact[]> {
  const { interrupt, facets } = readDetails(request) ?? {};
  const tool = readableName(interrupt?.toolRequest.name ?? '');
  const text =
    scope === 'once'
      ? pageTexts.once
      : 'plan' in scope
        ? pageTexts.steps(scope.plan)
        : facets?.grants === undefined
          ? ''
          : `${pageTexts.once} ${grantTexts.scope(facets.grants, tool)}`;
  const name = onBehalfOf === null ? undefined : await nameOf(directory, onBehalfOf);
  return [
    { label: pageTexts.youApprove, text: showLine(text) },
    ...(name === undefined ? [] : [{ label: pageTexts.onBehalfOf, text: showLine(name) }]),
  ];
}

/** Takes what the person's passkey signed. */
export async function takeApproval({ context, viewer, id: nonce, body }: PasskeyCall): Promise<HttpAnswer> {
  const { data } = Assertion.safeParse({ ...objectOf(tryParseJson(body)), nonce });
  if (data === undefined) return refusal(400, passkeyTexts.refused.unreadable);
  const { isApproved, notice } = await context.signing.approve(viewer.who, data);
  const text = notice === undefined ? pageTexts.approved : await inPlainWords(context, notice);
  return isApproved ? jsonAnswer(200, { isApproved, text } satisfies Approved) : refusal(409, text);
}

/** Writes a sentence of Slack without its markup. */
async function inPlainWords({ directory }: PasskeyContext, text: string): Promise<string> {
  let plain = text;
  for (const [mention, id = ''] of text.matchAll(/<@([UW][A-Z0-9]+)>/g))
    plain = plain.replaceAll(mention, await nameOf(directory, id));
  return showLine(plain);
}

async function nameOf(directory: Directory, id: string): Promise<string> {
  const name = await directory
    .relaxed()
    .nameOf(id)
    .catch(() => undefined);
  return name ?? id;
}

function rpIdOf(origin: string): string {
  return new URL(origin).hostname;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
