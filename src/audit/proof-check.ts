import { canonicalJson, isJsonObject, type JsonObject, toJson, tryParseJson } from '../agent/json.ts';
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

/**
 * Checks the approvals of a log that passkeys signed, row by row, with the log alone: each was signed by a key that the person had enrolled by
 * then, for exactly this request and this digest, once. `audit verify` and the browser use it; it needs nothing but WebCrypto.
 */
export class ProofCheck {
  #isPartial: boolean;
  /** The digests of requests that are approved with passkeys. */
  readonly #asked = new Map<string, string>();
  readonly #keys = new Map<string, HeldKey>();
  readonly #nonces = new Set<string>();
  #last = 0;
  /** The approvals that were proven. */
  proven = 0;

  /** With `isPartial`, the log begins in its middle: keys and requests of before are not known. */
  constructor({ isPartial }: { readonly isPartial: boolean }) {
    this.#isPartial = isPartial;
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
    if (row.event === 'asked' && isJsonObject(body.policy) && body.policy.passkey === true)
      this.#asked.set(row.subject, String(body.digest));
    if (row.event === 'chosen' && this.#asked.has(row.subject))
      this.#asked.set(row.subject, String(body.digest));
    if (row.event !== 'voted' || !row.detail.startsWith('approve ')) return undefined;
    const problem = await this.#checkVote(row, body);
    return problem === undefined ? undefined : `row ${row.seq}: ${problem}`;
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
        ...{ key, countsFrom: typeof countsFrom === 'number' ? countsFrom : null },
        counter: before?.counter ?? 0,
      });
    return undefined;
  }

  async #checkVote({ at, subject, detail }: ProofRow, body: JsonObject): Promise<string | undefined> {
    const digest = this.#asked.get(subject);
    if (body.proof === undefined)
      return digest === undefined ? undefined : 'it needs a passkey, and none signed it';
    const proof = readProof(body.proof);
    if (proof === undefined) return PROBLEMS.unreadable;
    const { terms } = proof;
    const [, who = '', standsFor] = /^approve (\S+) \d+ of \d+(?: for (\S+))?$/.exec(detail) ?? [];
    if (terms.voter !== who || body.who !== who) return 'somebody else signed it';
    if (terms.onBehalfOf !== (standsFor ?? null)) return 'it was signed for somebody else';
    if (terms.request !== subject) return 'another request was signed';
    if (digest === undefined ? !this.#isPartial : terms.digest !== digest) return 'another digest was signed';
    if (typeof terms.scope === 'object' && 'grant' in terms.scope !== (body.grants === true))
      return 'another scope was signed';
    if (terms.scope === 'once' && body.grants === true) return 'another scope was signed';
    if (at > terms.expiry) return 'it was signed too late';
    if (this.#nonces.has(terms.nonce)) return 'its proof was used before';
    this.#nonces.add(terms.nonce);
    const problem = await proofProblem(proof);
    if (problem !== undefined) return PROBLEMS[problem];
    return this.#checkKey(who, at, proof);
  }

  #checkKey(who: string, at: number, proof: ApprovalProof): string | undefined {
    const name = `${who} ${proof.key.credential}`;
    const held = this.#keys.get(name);
    if (held === undefined && !this.#isPartial) return 'its passkey was not enrolled, or was removed before';
    if (held !== undefined && keyText(held.key) !== keyText(proof.key)) return 'its passkey is another one';
    if (held !== undefined && (held.countsFrom === null || held.countsFrom > at))
      return 'its passkey did not count yet';
    const counter = counterOf(proof);
    if (held !== undefined && !isCounterAhead(held.counter, counter)) return 'its passkey counts backwards';
    if (held !== undefined) held.counter = counter;
    this.proven += 1;
    return undefined;
  }
}

function keyText(key: EnrolledKey): string {
  return canonicalJson({ key: toJson(key) });
}
