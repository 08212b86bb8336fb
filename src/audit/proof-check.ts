import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  segmentsOf,
  toJson,
  tryParseJson,
} from '../agent/json.ts';
import { choiceText, DIGEST_VERSION, type Hashing, hashParts, partsIn, planText } from '../policy/digest.ts';
import {
  type ApprovalProof,
  counterOf,
  type EnrolledKey,
  isCounterAhead,
  type ProofProblem,
  proofProblem,
  readKey,
  readProof,
} from '../policy/proof.ts';
import type { AuditRow } from '../store/port/audit.ts';

/** The part of a row that this check reads. */
export type ProofRow = Omit<AuditRow, 'hash'>;

/** Computes the SHA-256 of a text, in hex. */
type Sha256 = (text: string) => string | Promise<string>;

/** A request as its row asked it. */
interface AskedRequest {
  /** The digest of what people were shown; `undefined` if the row does not hold what it is computed from. */
  readonly shown: string | undefined;
  /** The digest of what may run now: with the steps or the choice that approvers have chosen. */
  digest: string;
  readonly body: JsonObject;
  readonly steps: readonly PlannedStep[] | undefined;
  /** The people who have approved it as it is now. */
  readonly approvers: Set<string>;
  /** The attempts that were started. */
  readonly attempts: Set<string>;
}

interface PlannedStep {
  readonly id: string;
  readonly number: number;
  readonly digest: string;
  /** Whether it needs an approval of its own, so that nobody leaves it out of the plan. */
  readonly alone: boolean;
}

/** The values of a row that were redacted, by JSON pointer: nobody can tell from the log what they were. */
export interface RedactedValues {
  readonly seq: number;
  readonly values: readonly string[];
}

interface HeldKey {
  readonly key: EnrolledKey;
  readonly countsFrom: number | null;
  counter: number;
}

const PROBLEMS: Readonly<Record<ProofProblem, string>> = {
  unreadable: 'its proof cannot be read',
  'other-terms': 'the passkey signed something else',
  'wrong-origin': 'the passkey signed on another site',
  'wrong-site': 'the passkey belongs to another site',
  'not-verified': 'the passkey did not verify the person',
  'wrong-signature': 'the signature is wrong',
};

const REDACTED = '[redacted]';

/**
 * Checks what was approved, row by row, with the log alone: the digest of each request is that of the words in its row, what started has it,
 * and each approval by a passkey was signed by a key that the person had enrolled by then, for exactly this request and this digest, once.
 * `audit verify` and the browser use it; it needs nothing but WebCrypto.
 */
export class ProofCheck {
  #isPartial: boolean;
  readonly #sha256: Sha256;
  readonly #asked = new Map<string, AskedRequest>();
  readonly #keys = new Map<string, HeldKey>();
  readonly #nonces = new Set<string>();
  /** The delegation that each person has given and that has not ended. */
  readonly #delegations = new Map<string, string>();
  #last = 0;
  /** The approvals that were proven. */
  proven = 0;
  readonly #redacted: RedactedValues[] = [];

  /** With `isPartial`, the log begins in its middle: keys and requests of before are not known. */
  constructor({ isPartial, sha256 = webSha256 }: { readonly isPartial: boolean; readonly sha256?: Sha256 }) {
    this.#isPartial = isPartial;
    this.#sha256 = sha256;
  }

  /** The values that cannot be compared with what was approved, because only their hashes are in the log. */
  get redacted(): readonly RedactedValues[] {
    return this.#redacted;
  }

  /** Passes over a row whose contents were erased: it may have been about a key or a request. */
  addErased(): void {
    this.#isPartial = true;
  }

  /** Reads the next row; returns what is wrong with it. A row that came before is not read again. */
  async add(row: ProofRow): Promise<string | undefined> {
    if (row.seq <= this.#last) return undefined;
    this.#last = row.seq;
    const body = tryParseJson(row.body);
    if (!isJsonObject(body)) return undefined;
    if (row.subject.startsWith('passkey:')) return this.#addKey(row, body);
    if (row.event === 'delegated') this.#delegations.set(String(body.from), row.detail.split(' ')[0] ?? '');
    if (row.event === 'delegation-ended') this.#delegations.delete(String(body.from));
    const problem = await this.#check(row, body);
    return problem === undefined ? undefined : `row ${row.seq}: ${problem}`;
  }

  async #check(row: ProofRow, body: JsonObject): Promise<string | undefined> {
    if (row.event === 'asked') return this.#checkAsked(row, body);
    const asked = this.#asked.get(row.subject);
    if (row.event === 'chosen') return asked && this.#checkChosen(asked, row, body);
    if (row.event === 'started') return asked && this.#checkStart(asked, body);
    if (row.event === 'succeeded' || row.event === 'failed') return asked && this.#checkEnd(asked, body);
    if (row.event === 'voted' && row.detail.startsWith('approve ')) return this.#checkVote(row, body);
    return undefined;
  }

  /** Compares the digest of a request with the words in its row, and keeps it. */
  async #checkAsked(row: ProofRow, body: JsonObject): Promise<string | undefined> {
    const { seq, subject, detail } = row;
    const isBound = body.digest_version === DIGEST_VERSION;
    const hidden = isBound ? hashesIn(body.hidden) : {};
    const shown = isBound ? await this.#hash(hashParts(partsIn(body), hidden)) : undefined;
    const steps = stepsIn(body.steps);
    const digest = String(body.digest);
    this.#asked.set(subject, { shown, digest, body, steps, approvers: new Set(), attempts: new Set() });
    if (shown === undefined) return needsKey(body) ? 'its digest cannot be computed' : undefined;
    const values = Object.keys(hidden);
    if (values.length > 0) this.#redacted.push({ seq, values });
    if (!values.every((pointer) => isRedacted(body, pointer))) return 'it hides what was not redacted';
    const covered = steps === undefined ? shown : await this.#sha256(planText(shown, steps));
    if (covered !== digest) return 'it is not what its digest was computed from';
    if (!subject.startsWith(`${String(body.thread)}~`)) return 'it was asked in another thread';
    const [first] = Array.isArray(body.requesters) ? body.requesters : [];
    if (body.requester !== first) return 'somebody else requested it';
    if (needsKey(body) && detail !== 'approval' && detail !== 'step') return 'it was an approval';
    return this.#checkStep(subject, digest, body.plan);
  }

  /** Compares a step with the list of its plan. */
  #checkStep(subject: string, digest: string, place: JsonValue | undefined): string | undefined {
    const plan = isJsonObject(place) ? this.#asked.get(String(place.plan)) : undefined;
    if (!isJsonObject(place) || (plan === undefined && this.#isPartial)) return undefined;
    const listed = plan?.steps?.find(({ number }) => number === place.number);
    const isSame = listed?.id === subject && listed.digest === digest;
    return isSame && listed.alone === place.alone ? undefined : 'its plan lists another step';
  }

  /** Compares the digest of what approvers have chosen with what they were shown. */
  async #checkChosen(
    asked: AskedRequest,
    { detail }: ProofRow,
    body: JsonObject,
  ): Promise<string | undefined> {
    const { shown, steps } = asked;
    const chosen = Array.isArray(body.chosen) ? body.chosen.map(Number) : [];
    asked.digest = String(body.digest);
    asked.approvers.clear();
    if (shown === undefined) return undefined;
    const text =
      steps === undefined
        ? choiceText(shown, chosen[0] ?? 0, choicesIn(asked.body.ask))
        : planText(shown, steps, numbersOf(steps, chosen));
    const isSame = (await this.#sha256(text)) === asked.digest;
    return isSame && detail === `${chosen.join(' ')} ${String(body.who)}`
      ? undefined
      : 'something else was chosen';
  }

  /** Compares what starts with what was approved, and counts the approvals that it rests on. */
  #checkStart(
    { shown, digest, body, approvers, attempts }: AskedRequest,
    started: JsonObject,
  ): string | undefined {
    attempts.add(String(started.attempt));
    if (shown === undefined) return undefined;
    if (started.digest !== digest) return 'what started is not what was asked';
    const { plan, policy } = body;
    const isCovered = isJsonObject(plan) && plan.alone === false;
    const people = isCovered ? this.#asked.get(String(plan.plan))?.approvers : approvers;
    const quorum = isJsonObject(policy) ? Number(policy.quorum) : 0;
    const isShort = people !== undefined && people.size < quorum;
    return needsKey(body) && isShort && !this.#isPartial
      ? 'it started without the approvals that it needed'
      : undefined;
  }

  /** Compares an end with the attempts that were started. */
  #checkEnd({ attempts }: AskedRequest, { attempt }: JsonObject): string | undefined {
    const isKnown = typeof attempt !== 'string' || attempts.has(attempt);
    return isKnown || this.#isPartial ? undefined : 'it ended without a start';
  }

  /** Runs a computation with the hashes that it asks for. */
  async #hash<Result>(steps: Hashing<Result>): Promise<Result> {
    let step = steps.next();
    while (step.done !== true) step = steps.next(await this.#sha256(step.value));
    return step.value;
  }

  #addKey({ event, subject, seq }: ProofRow, body: JsonObject): string | undefined {
    const key = readKey(body.key);
    const { countsFrom, who } = body;
    if (key === undefined || subject !== `passkey:${String(who)}`)
      return `row ${seq}: its key cannot be read`;
    const name = `${String(who)} ${key.credential}`;
    const before = this.#keys.get(name);
    if (before !== undefined && keyText(before.key) !== keyText(key))
      return `row ${seq}: its key is another one`;
    if (event === 'passkey-removed') this.#keys.delete(name);
    else
      this.#keys.set(name, {
        key,
        countsFrom: typeof countsFrom === 'number' ? countsFrom : null,
        counter: before?.counter ?? 0,
      });
    return undefined;
  }

  async #checkVote({ at, subject, detail }: ProofRow, body: JsonObject): Promise<string | undefined> {
    const asked = this.#asked.get(subject);
    const digest = asked?.digest;
    asked?.approvers.add(String(body.who));
    if (body.proof === undefined)
      return asked !== undefined && needsKey(asked.body)
        ? 'it needs a passkey, and none signed it'
        : undefined;
    const proof = readProof(body.proof);
    if (proof === undefined) return PROBLEMS.unreadable;
    if (body.decision !== 'approve') return 'an approval was signed';
    const { terms } = proof;
    const [, who = '', standsFor] = /^approve (\S+) \d+ of \d+(?: for (\S+))?$/.exec(detail) ?? [];
    if (terms.voter !== who || body.who !== who) return 'somebody else signed it';
    if (terms.onBehalfOf !== (standsFor ?? null)) return 'it was signed for somebody else';
    if (terms.request !== subject) return 'another request was signed';
    if (digest === undefined ? !this.#isPartial : terms.digest !== digest) return 'another digest was signed';
    if (asked !== undefined && asked.shown === undefined)
      return 'the words that were signed are not in the log';
    if (typeof terms.scope === 'object' && 'grant' in terms.scope !== (body.grants === true))
      return 'another scope was signed';
    if (terms.scope === 'once' && body.grants === true) return 'another scope was signed';
    if (at > terms.expiry) return 'it was signed too late';
    if (this.#nonces.has(terms.nonce)) return 'its proof was used before';
    this.#nonces.add(terms.nonce);
    const problem = await proofProblem(proof);
    if (problem !== undefined) return PROBLEMS[problem];
    const delegated = await this.#checkDelegation(proof, at);
    if (delegated !== undefined) return delegated;
    const wrong = this.#checkKey(who, at, proof);
    if (wrong === undefined) this.proven += 1;
    return wrong;
  }

  /** Checks that the approver in whose place a vote counts has signed that, by a delegation that held then. */
  async #checkDelegation({ terms, delegation }: ApprovalProof, at: number): Promise<string | undefined> {
    if (terms.onBehalfOf === null) return undefined;
    if (delegation === undefined) return 'the approver did not sign that somebody decides for them';
    const { delegation: id, from, to, until, workspace } = delegation.terms;
    if (from !== terms.onBehalfOf || to !== terms.voter || workspace !== terms.workspace)
      return 'the approver signed another delegation';
    const given = this.#delegations.get(from);
    if (at >= until || (given === undefined ? !this.#isPartial : given !== id))
      return 'the delegation did not hold then';
    const problem = await proofProblem(delegation);
    if (problem !== undefined) return `in the delegation, ${PROBLEMS[problem]}`;
    const wrong = this.#heldProblem(from, at, delegation.key);
    return wrong && `in the delegation, ${wrong}`;
  }

  #checkKey(who: string, at: number, proof: ApprovalProof): string | undefined {
    const wrong = this.#heldProblem(who, at, proof.key);
    if (wrong !== undefined) return wrong;
    const held = this.#keys.get(`${who} ${proof.key.credential}`);
    const counter = counterOf(proof);
    if (held !== undefined && !isCounterAhead(held.counter, counter))
      return 'the counter of its passkey went backwards';
    if (held !== undefined) held.counter = counter;
    return undefined;
  }

  /** Says what is wrong with a key that signed, as far as its enrolment says. */
  #heldProblem(who: string, at: number, key: EnrolledKey): string | undefined {
    const held = this.#keys.get(`${who} ${key.credential}`);
    if (held === undefined)
      return this.#isPartial ? undefined : 'its passkey was not enrolled, or was removed before';
    if (keyText(held.key) !== keyText(key)) return 'its passkey is another one';
    return held.countsFrom === null || held.countsFrom > at ? 'its passkey did not count yet' : undefined;
  }
}

function keyText(key: EnrolledKey): string {
  return canonicalJson({ key: toJson(key) });
}

/** Tells whether approving a request takes passkeys. */
function needsKey({ policy }: JsonObject): boolean {
  return isJsonObject(policy) && policy.passkey === true;
}

function hashesIn(value: JsonValue | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(isJsonObject(value) ? value : {}).map(([pointer, hash]) => [pointer, String(hash)]),
  );
}

/** Tells whether the row shows at a place that something was redacted; of a whole part, that one of its keys was. */
function isRedacted(body: JsonObject, pointer: string): boolean {
  let value: JsonValue | undefined = body;
  for (const segment of segmentsOf(pointer)) value = fieldOf(value, segment);
  if (typeof value === 'string') return value.includes(REDACTED);
  return isJsonObject(value) && segmentsOf(pointer).length === 1 && keysOf(value).includes(REDACTED);
}

function fieldOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Writes all keys of a value, at every depth. */
function keysOf(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, entry]) => `${key} ${keysOf(entry)}`)
    .join(' ');
}

function stepsIn(value: JsonValue | undefined): readonly PlannedStep[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((step: JsonValue, index) => {
    const { id, digest, alone } = isJsonObject(step) ? step : {};
    return { id: String(id), number: index + 1, digest: String(digest), alone: alone === true };
  });
}

/** Lists the steps that are left in a plan: those that were chosen, and those that need an approval of their own. */
function numbersOf(steps: readonly PlannedStep[], chosen: readonly number[]): number[] {
  return steps.filter(({ number, alone }) => alone || chosen.includes(number)).map(({ number }) => number);
}

function choicesIn(ask: JsonValue | undefined): readonly JsonValue[] {
  const way = isJsonObject(ask) ? ask.way : undefined;
  const choices = isJsonObject(way) ? way.choices : undefined;
  return Array.isArray(choices) ? choices : [];
}

async function webSha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
