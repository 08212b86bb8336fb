import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditMark, AuditStore, StoredCheckpoint } from '../store/port/audit.ts';
import { linkOf, sealOf } from '../store/record/chain-check.ts';
import {
  Checkpoint,
  CheckpointCheck,
  checkpointText,
  hashOf,
  markOf,
  parseCheckpoint,
  signCheckpoint,
} from './checkpoint.ts';
import type { SigningKey } from './signing-key.ts';

/** A reason for which nothing is signed. */
export type RefusalCode =
  | 'state-unreadable'
  | 'state-unwritable'
  | 'checkpoint-changed'
  | 'checkpoint-missing'
  | 'older-copy'
  | 'unknown-key'
  | 'not-continued'
  | 'log-changed'
  | 'unsigned-rows'
  | 'failing';

export interface Refusal {
  readonly outcome: 'refused';
  readonly code: RefusalCode;
  /** The last checkpoint that the signer can trust; 0 if there is none. */
  readonly checkpoint: number;
}

export type SignResult = { readonly outcome: 'appended' | 'nothing-new' | 'not-held' | 'followed' } | Refusal;

interface SignerOptions {
  readonly store: AuditStore;
  readonly key: SigningKey;
  readonly memory: SignerMemory;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Rows that wait longer for a signature are a fault. */
  readonly unsignedAfterMs: number;
}

/** The end of the rows that a checkpoint signs. */
type SignedRows = Pick<Checkpoint, 'seq' | 'hash' | 'sha256'>;

/** The agreement of memory and Redis: the checkpoint to continue, and one that Redis lacks although it was signed. */
interface Agreed {
  readonly outcome: 'agreed';
  readonly last: Checkpoint | undefined;
  readonly lost: Checkpoint | undefined;
}

/**
 * Signs the log. It continues the checkpoint that it remembers outside Redis, or later ones in Redis that continue it and are signed with a
 * known key, and refuses everything else. Every process has a signer; the one with the lease signs, the others follow.
 */
export class Signer {
  readonly #store: AuditStore;
  readonly #key: SigningKey;
  readonly #memory: SignerMemory;
  readonly #log: SignerOptions['log'];
  readonly #unsignedAfterMs: number;

  constructor({ store, key, memory, log, unsignedAfterMs }: SignerOptions) {
    this.#store = store;
    this.#key = key;
    this.#memory = memory;
    this.#log = log;
    this.#unsignedAfterMs = unsignedAfterMs;
  }

  /** Signs the last row, if it is new. The checkpoint is remembered before Redis gets it, so a crash never leads to two with one number. */
  async sign(owner: string, renewLease: () => Promise<boolean>): Promise<SignResult> {
    const agreed = await this.#agree();
    if (agreed.outcome === 'refused') return agreed;
    const { last, lost } = agreed;
    if (lost !== undefined) {
      this.#log.warn({ checkpoint: lost.n }, 'signed checkpoint is not in Redis: it is put back');
      return this.#append(owner, lost);
    }
    const rows = await this.#rowsAfter(last);
    if (rows === 'none') return { outcome: 'nothing-new' };
    if (rows === undefined) return refused('log-changed', last);
    if (last === undefined) this.#log.info({ until: rows.seq }, 'audit signer begins a new series');
    const next = signCheckpoint(
      { n: (last?.n ?? 0) + 1, at: Date.now(), ...rows, previous: last === undefined ? '' : hashOf(last) },
      this.#key,
    );
    if (!(await renewLease())) return { outcome: 'not-held' };
    const problem = await this.#remember({ ...(last && { signed: last }), pending: next });
    return problem ?? this.#append(owner, next);
  }

  /** Keeps the memory of a process without the lease up to date, and finds what the process with the lease should have found. */
  async follow(): Promise<SignResult> {
    const agreed = await this.#agree();
    if (agreed.outcome === 'refused') return agreed;
    const { last, lost } = agreed;
    if (lost !== undefined && lost.n <= (last?.n ?? 0)) return refused('checkpoint-missing', last);
    for await (const { at } of this.#store.exportAudit(last?.seq ?? 0)) {
      if (Date.now() - at > this.#unsignedAfterMs) return refused('unsigned-rows', last);
      break;
    }
    return { outcome: 'followed' };
  }

  /** Finds the reason for which the log is not signed, as a process without the lease does, and also where its rows do not continue. */
  async inspect(): Promise<Refusal | undefined> {
    const followed = await this.follow();
    if (followed.outcome === 'refused') return followed;
    const agreed = await this.#agree();
    if (agreed.outcome === 'refused') return agreed;
    const rows = await this.#rowsAfter(agreed.last);
    return rows === undefined ? refused('log-changed', agreed.last) : undefined;
  }

  /** Compares the memory with the last checkpoint in Redis. */
  async #agree(): Promise<Agreed | Refusal> {
    let state: SignerState;
    try {
      state = await this.#memory.read();
    } catch (err) {
      this.#log.warn({ err }, 'state of the audit signer cannot be read');
      return refused('state-unreadable', undefined);
    }
    const { signed: known, pending } = state;
    const { checkpoint: stored } = await this.#store.auditEnds();
    if (stored === undefined) {
      if (known === undefined) return this.#putBack(undefined, pending?.n === 1 ? pending : undefined);
      return known.n === 1 ? this.#putBack(known, known) : this.#missing(known);
    }
    const last = parseCheckpoint(stored.text);
    const problem = this.#problemOf(stored, last);
    if (last === undefined || problem !== undefined) return refused(problem ?? 'checkpoint-changed', known);
    if (known === undefined) {
      this.#log.warn({ checkpoint: last.n }, 'audit signer remembers nothing and continues the log in Redis');
      return (await this.#remember({ signed: last })) ?? agreedOn(last, undefined);
    }
    const hash = hashOf(last);
    if (hash === hashOf(known)) return this.#putBack(known, pending?.previous === hash ? pending : undefined);
    if (hash === known.previous) return this.#putBack(known, known);
    if (last.n < known.n) return this.#missing(known);
    if (last.n === known.n) return refused('not-continued', known);
    if (!(await this.#continues(known))) return refused('not-continued', known);
    return (await this.#remember({ signed: last })) ?? agreedOn(last, undefined);
  }

  /** Agrees on a checkpoint that has to be put back, unless the rows that it signed are not there: then the log is an older copy. */
  async #putBack(last: Checkpoint | undefined, lost: Checkpoint | undefined): Promise<Agreed | Refusal> {
    return lost === undefined || (await this.#hasRowOf(lost))
      ? agreedOn(last, lost)
      : refused('older-copy', last);
  }

  async #missing(known: Checkpoint): Promise<Refusal> {
    return refused((await this.#hasRowOf(known)) ? 'checkpoint-missing' : 'older-copy', known);
  }

  /** Tells whether the last row that a checkpoint signed is in Redis, or was removed with older ones. */
  async #hasRowOf({ seq, hash }: Checkpoint): Promise<boolean> {
    const { base } = await this.#store.auditEnds();
    if (seq <= base.seq) return seq < base.seq || hash === base.hash;
    for await (const row of this.#store.exportAudit(seq - 1)) return row.seq === seq && row.hash === hash;
    return false;
  }

  #problemOf({ n, hash }: StoredCheckpoint, last: Checkpoint | undefined): RefusalCode | undefined {
    const check = new CheckpointCheck(this.#key.publicKeys);
    check.add(last, { n, hash, partial: true });
    const [found] = check.problems;
    if (found === undefined) return undefined;
    return found.problem === 'unknown-key' ? 'unknown-key' : 'checkpoint-changed';
  }

  /** Tells whether the checkpoints in Redis continue a known one, each signed, and none with a key that was replaced. */
  async #continues(known: Checkpoint): Promise<boolean> {
    const check = new CheckpointCheck(this.#key.publicKeys, known);
    for await (const { n, hash, text } of this.#store.readCheckpoints(known.n)) {
      const checkpoint = parseCheckpoint(text);
      check.add(checkpoint, { n, hash });
      if (known.keyId === this.#key.id && checkpoint?.keyId !== this.#key.id) return false;
    }
    return check.problems.length === 0;
  }

  /** Follows the rows after a checkpoint to the last one; `undefined` if they do not continue it. */
  async #rowsAfter(last: Checkpoint | undefined): Promise<SignedRows | 'none' | undefined> {
    const { base, head } = await this.#store.auditEnds();
    const from: AuditMark = last === undefined ? { ...base, sha256: '' } : markOf(last);
    if (head.seq === from.seq && head.hash === from.hash) return 'none';
    return this.#walk(from, head.seq);
  }

  /** Follows the rows from a known one to a number; `undefined` if they do not continue it. */
  async #walk(from: AuditMark, until: number): Promise<SignedRows | undefined> {
    let { seq, hash, sha256 = '' } = from;
    for await (const row of this.#store.exportAudit(from.seq)) {
      if (row.seq !== seq + 1 || linkOf(row, hash) !== row.hash) return undefined;
      sha256 = sealOf(row, sha256);
      ({ seq, hash } = row);
      if (seq === until) return { seq, hash, sha256 };
    }
    return undefined;
  }

  async #append(owner: string, checkpoint: Checkpoint): Promise<SignResult> {
    const { n, previous } = checkpoint;
    const text = checkpointText(checkpoint);
    const stored = { n, hash: hashOf(checkpoint), previous, text };
    const outcome = await this.#store.appendCheckpoint(owner, stored);
    if (outcome === 'not-next') return refused('checkpoint-missing', checkpoint);
    if (outcome === 'not-held') return { outcome };
    const { pending } = await this.#memory.read();
    const isStillPending = pending !== undefined && pending.n > n;
    return (await this.#remember({ signed: checkpoint, ...(isStillPending && { pending }) })) ?? { outcome };
  }

  async #remember(state: SignerState): Promise<Refusal | undefined> {
    try {
      await this.#memory.write(state);
      return undefined;
    } catch (err) {
      this.#log.warn({ err }, 'state of the audit signer cannot be written');
      return refused('state-unwritable', state.signed);
    }
  }
}

function agreedOn(last: Checkpoint | undefined, lost: Checkpoint | undefined): Agreed {
  return { outcome: 'agreed', last, lost };
}

function refused(code: RefusalCode, known: Checkpoint | undefined): Refusal {
  return { outcome: 'refused', code, checkpoint: known?.n ?? 0 };
}

const State = z.strictObject({
  v: z.literal(1),
  /** The last checkpoint that Redis is known to hold. */
  signed: Checkpoint.optional(),
  /** A checkpoint that may have reached Redis or not. */
  pending: Checkpoint.optional(),
});

/** The checkpoints that a signer remembers. */
type SignerState = Pick<z.infer<typeof State>, 'signed' | 'pending'>;

/** The memory of a signer outside Redis, so that write access to Redis is not enough to make it sign another log. */
export interface SignerMemory {
  /** Throws if there is a memory and it cannot be read: that is not the same as none. */
  read(): Promise<SignerState>;
  /** Resolves when the memory survives a crash. */
  write(state: SignerState): Promise<void>;
}

/** Remembers for as long as the process lives. */
export function processMemory(): SignerMemory {
  let kept: SignerState = {};
  return {
    read: async () => kept,
    write: async (state) => {
      kept = state;
    },
  };
}

/** Remembers in a file, which is replaced in one step: a crash leaves the old text or the new one. */
export function fileMemory(file: string): SignerMemory {
  // A file that is gone while the process runs is not forgotten.
  let kept: SignerState = {};
  return {
    read: async () => (await readSignerState(file)) ?? kept,
    async write(state) {
      await replaceFile(file, `${JSON.stringify({ v: 1, ...state })}\n`);
      kept = state;
    },
  };
}

/** Reads the memory of a signer; `undefined` if there is none yet. */
export async function readSignerState(file: string): Promise<SignerState | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { data } = State.safeParse(tryParseJson(text));
  if (data === undefined) throw new Error(`${file} holds no state of the audit signer`);
  return data;
}

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  const written = await open(draft, 'wx', 0o600);
  try {
    await written.writeFile(text);
    await written.sync();
  } finally {
    await written.close();
  }
  await rename(draft, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
