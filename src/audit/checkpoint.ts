import { type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, toJson, tryParseJson } from '../agent/json.ts';
import type { AuditMark } from '../store/port/audit.ts';
import { sha256 } from '../store/record/chain-check.ts';
import type { SigningKey } from './signing-key.ts';

const Hash = z.string().regex(/^[0-9a-f]*$/);

/** A signed statement about the last row of the log, and so about every row before it. */
export const Checkpoint = z.strictObject({
  v: z.literal(1),
  n: z.int().positive(),
  at: z.number(),
  seq: z.int().positive(),
  hash: Hash,
  /** The SHA-256 chain over the rows up to this one. */
  sha256: Hash,
  /** The hash of the checkpoint before it; '' for the first. */
  previous: Hash,
  keyId: z.string(),
  /** Ed25519 over the canonical JSON of everything else, in base64. */
  signature: z.string(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** A checkpoint that somebody knows from outside Redis. */
export interface CheckpointAnchor {
  readonly n: number;
  readonly hash: string;
}

/** A fault in the checkpoints. */
export interface CheckpointProblem {
  readonly checkpoint: number;
  readonly problem: 'missing' | 'changed' | 'unknown-key' | 'unsigned-rows';
  readonly message: string;
}

export function signCheckpoint(
  fields: Omit<Checkpoint, 'v' | 'keyId' | 'signature'>,
  key: SigningKey,
): Checkpoint {
  const unsigned = { v: 1 as const, ...fields, keyId: key.id };
  const signature = sign(null, bytesOf(unsigned), key.privateKey).toString('base64');
  return { ...unsigned, signature };
}

export function isSignedBy({ signature, ...unsigned }: Checkpoint, key: KeyObject): boolean {
  return verify(null, bytesOf(unsigned), key, Buffer.from(signature, 'base64'));
}

function bytesOf(unsigned: Omit<Checkpoint, 'signature'>): Buffer {
  return Buffer.from(canonicalJson(toJson(unsigned)));
}

/** Writes a checkpoint as it is stored and exported: canonical JSON. */
export function checkpointText(checkpoint: Checkpoint): string {
  return canonicalJson(toJson(checkpoint));
}

export function hashOf(checkpoint: Checkpoint): string {
  return sha256(checkpointText(checkpoint));
}

export function parseCheckpoint(text: string): Checkpoint | undefined {
  return Checkpoint.safeParse(tryParseJson(text)).data;
}

export interface CheckedCheckpoint {
  readonly n: number;
  /** The hash that is stored beside the checkpoint, where one is. */
  readonly hash?: string;
  /** Allows the first one to be a later one. */
  readonly partial?: boolean;
}

/** Checks checkpoints in the order in which they come: signatures, keys, numbers, and that each continues the one before it. */
export class CheckpointCheck {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #problems: CheckpointProblem[] = [];
  readonly #hashes = new Map<number, string>();
  /** Keys that another key has replaced; they sign nothing any more. */
  readonly #replacedKeys = new Set<string>();
  readonly #marks: AuditMark[] = [];
  #first: Checkpoint | undefined;
  #last: Checkpoint | undefined;

  /** `known` is a checkpoint from elsewhere that the first one must continue. */
  constructor(keys: ReadonlyMap<string, KeyObject>, known?: Checkpoint) {
    this.#keys = keys;
    this.#last = known;
  }

  /** Adds the next checkpoint; `undefined` is one that cannot be read. */
  add(checkpoint: Checkpoint | undefined, { n, hash: stored, partial = false }: CheckedCheckpoint): void {
    const hash = checkpoint && hashOf(checkpoint);
    if (checkpoint === undefined || hash === undefined || checkpoint.n !== n || (stored ?? hash) !== hash) {
      this.#report(n, 'changed', `checkpoint ${n} is not what was written`);
      return;
    }
    // An export is sent at least once, so the same checkpoint may come again.
    if (this.#hashes.get(n) === hash) return;
    if (!this.#isGenuine(checkpoint)) return;
    const expected = (this.#last?.n ?? 0) + 1;
    const isFirst = this.#last === undefined && partial;
    if (n > expected && !isFirst) {
      const missing =
        n - expected === 1 ? `checkpoint ${expected} is` : `checkpoints ${expected} to ${n - 1} are`;
      this.#report(expected, 'missing', `${missing} missing`);
    } else if (n < expected) {
      const message = this.#hashes.has(n)
        ? `there are two different checkpoints ${n}`
        : `checkpoint ${n} comes after checkpoint ${expected - 1}`;
      this.#report(n, 'changed', message);
    } else if (!isFirst && checkpoint.previous !== (this.#last === undefined ? '' : hashOf(this.#last))) {
      this.#report(n, 'changed', `checkpoint ${n} does not continue the one before it`);
    }
    this.#hashes.set(n, hash);
    this.#first ??= checkpoint;
    this.#marks.push(markOf(checkpoint));
    if (n < expected) return;
    if (this.#last !== undefined && this.#last.keyId !== checkpoint.keyId)
      this.#replacedKeys.add(this.#last.keyId);
    this.#last = checkpoint;
  }

  /** The last checkpoint that was signed by a known key. */
  get last(): Checkpoint | undefined {
    return this.#last;
  }

  get count(): number {
    return this.#hashes.size;
  }

  get problems(): readonly CheckpointProblem[] {
    return this.#problems;
  }

  /** The rows that signed checkpoints name. */
  get marks(): readonly AuditMark[] {
    return this.#marks;
  }

  /** The hashes of the signed checkpoints by number. */
  get hashes(): ReadonlyMap<number, string> {
    return this.#hashes;
  }

  /** The first checkpoint that was signed by a known key. */
  get first(): Checkpoint | undefined {
    return this.#first;
  }

  /** Finds the checkpoints known from elsewhere that these are not, or do not continue. */
  missing(anchors: readonly CheckpointAnchor[]): readonly CheckpointProblem[] {
    return anchors.flatMap(({ n, hash }): CheckpointProblem[] => {
      const own = this.#hashes.get(n);
      const isContinued = this.#first?.n === n + 1 && this.#first.previous === hash;
      if (own === hash || (own === undefined && isContinued)) return [];
      return own === undefined
        ? [{ checkpoint: n, problem: 'missing', message: `checkpoint ${n} was signed, but it is not here` }]
        : [{ checkpoint: n, problem: 'changed', message: `checkpoint ${n} is not the one that was signed` }];
    });
  }

  #isGenuine(checkpoint: Checkpoint): boolean {
    const { n, keyId } = checkpoint;
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      this.#report(n, 'unknown-key', `checkpoint ${n} is signed with the key ${keyId}, which is not given`);
      return false;
    }
    if (this.#replacedKeys.has(keyId)) {
      this.#report(n, 'unknown-key', `checkpoint ${n} is signed with the key ${keyId} after its replacement`);
      return false;
    }
    if (isSignedBy(checkpoint, key)) return true;
    this.#report(n, 'changed', `the signature of checkpoint ${n} is wrong`);
    return false;
  }

  #report(checkpoint: number, problem: CheckpointProblem['problem'], message: string): void {
    this.#problems.push({ checkpoint, problem, message });
  }
}

/** Returns the row that a checkpoint names. */
export function markOf({ seq, hash, sha256: seal }: Checkpoint): AuditMark {
  return { seq, hash, sha256: seal };
}
