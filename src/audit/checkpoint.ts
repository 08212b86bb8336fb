import { type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, toJson, tryParseJson } from '../agent/json.ts';
import type { AuditMark } from '../store/port/audit.ts';
import { sha256 } from '../store/record/chain-check.ts';
import type { SigningKey } from './signing-key.ts';

const Hash = z.string().regex(/^[0-9a-f]*$/);

/** A signed statement about the last rows of all shards; a shard that is not listed has no rows. */
export const Checkpoint = z.strictObject({
  v: z.literal(1),
  n: z.int().positive(),
  at: z.number(),
  heads: z.array(
    z.strictObject({
      shard: z.int().nonnegative(),
      seq: z.int().positive(),
      hash: Hash,
      /** The SHA-256 chain over the rows; missing where the first rows were gone before the first checkpoint. */
      sha256: Hash.optional(),
    }),
  ),
  /** The hash of the checkpoint before it; '' for the first. */
  previous: Hash,
  keyId: z.string(),
  /** Ed25519 over the canonical JSON of everything else, in base64. */
  signature: z.string(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

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

/** Checks checkpoints in the order in which they come: signatures, numbers, and that nothing ever goes back. */
export class CheckpointCheck {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #problems: CheckpointProblem[] = [];
  readonly #hashes = new Map<number, string>();
  readonly #heads = new Map<number, Checkpoint['heads'][number]>();
  readonly #marks: AuditMark[] = [];
  #first: Checkpoint | undefined;
  #last: Checkpoint | undefined;

  constructor(keys: ReadonlyMap<string, KeyObject>) {
    this.#keys = keys;
  }

  /** Adds the next checkpoint; `undefined` is one that cannot be read. `partial` allows the first to be a later one. */
  add(
    checkpoint: Checkpoint | undefined,
    { n, partial = false }: { readonly n: number; readonly partial?: boolean },
  ): void {
    if (checkpoint === undefined || checkpoint.n !== n) {
      this.#report(n, 'changed', `checkpoint ${n} is not what was written`);
      return;
    }
    const hash = hashOf(checkpoint);
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
    this.#addHeads(checkpoint);
    if (n >= expected) this.#last = checkpoint;
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

  #isGenuine(checkpoint: Checkpoint): boolean {
    const { n, keyId } = checkpoint;
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      this.#report(n, 'unknown-key', `checkpoint ${n} is signed with the key ${keyId}, which is not given`);
      return false;
    }
    if (isSignedBy(checkpoint, key)) return true;
    this.#report(n, 'changed', `the signature of checkpoint ${n} is wrong`);
    return false;
  }

  #addHeads({ heads }: Checkpoint): void {
    for (const head of heads) {
      const known = this.#heads.get(head.shard);
      if (known?.seq === head.seq && known.hash === head.hash && known.sha256 === head.sha256) continue;
      this.#heads.set(head.shard, head);
      this.#marks.push(head);
    }
  }

  #report(checkpoint: number, problem: CheckpointProblem['problem'], message: string): void {
    this.#problems.push({ checkpoint, problem, message });
  }
}
