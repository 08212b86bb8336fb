import { canonicalJson, isJsonObject, tryParseJson } from '../../../agent/json.ts';
import { ProofCheck } from '../../../audit/proof-check.ts';
import { linkText, sealText } from '../../../store/record/chain-text.ts';
import type { LogPart, LogRow } from '../../protocol.ts';

/** A fault of the log: the row or the checkpoint where it shows. */
export interface Break {
  readonly at: { readonly row: number } | { readonly checkpoint: number };
  readonly message: string;
}

export interface LogCheck {
  readonly rows: number;
  /** The approvals that the approvers' own passkeys prove. */
  readonly proven: number;
  readonly checkpoints: number;
  /** The time of the last signed checkpoint: what was written before is proven. */
  readonly signedUntil: number | undefined;
  /** Whether signatures were checked, or why not. */
  readonly signatures: 'checked' | 'no-key' | 'not-supported';
  /** Whether rows before the first one were removed. */
  readonly isTrimmed: boolean;
  /** The first fault; `undefined` if there is none. */
  readonly break: Break | undefined;
}

interface Checkpoint {
  readonly n: number;
  readonly at: number;
  readonly seq: number;
  readonly hash: string;
  readonly sha256: string;
  readonly previous: string;
  readonly keyId: string;
  readonly signature: string;
}

/** A log as it was read: the first part, which has the checkpoints, and the rows in their order. */
export interface ReadLog {
  readonly first: LogPart;
  readonly rows: AsyncIterable<LogRow>;
  /** Public keys as PEM; those that the bot gives, or those that the reader has from elsewhere. */
  readonly publicKeys: string;
  readonly now?: number;
}

type PublicKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Checkpoints are made at least once a minute; rows that wait for one much longer are a fault. */
const LONGEST_UNSIGNED_MS = 300_000;

/**
 * Checks a log in the browser, by WebCrypto alone: the chain of rows, the checkpoints with their signatures, and the rows against the
 * checkpoints. It hashes the texts that the bot hashes, and trusts nothing else of it.
 */
export async function verifyLog({ first, rows, publicKeys, now = Date.now() }: ReadLog): Promise<LogCheck> {
  const { base, head } = first;
  const keys = await importKeys(publicKeys);
  const signatures = keys === 'not-supported' ? keys : keys.size === 0 ? 'no-key' : 'checked';
  const checked =
    signatures === 'checked' && keys !== 'not-supported'
      ? await checkCheckpoints(first.checkpoints ?? [], keys, base.seq > 0)
      : { marks: new Map<number, Checkpoint>(), last: undefined, count: 0, problem: undefined };
  const { marks, last } = checked;
  const found = await checkRows(first, rows, marks);
  const unsigned =
    signatures === 'checked' &&
    found.unsignedSince !== undefined &&
    now - found.unsignedSince >= LONGEST_UNSIGNED_MS
      ? { at: { checkpoint: (last?.n ?? 0) + 1 }, message: 'The newest rows are not signed.' }
      : undefined;
  const ahead =
    last !== undefined && last.seq > head.seq
      ? { at: { row: last.seq }, message: `Row ${last.seq} was signed, but the log ends at row ${head.seq}.` }
      : undefined;
  return {
    rows: found.rows,
    proven: found.proven,
    checkpoints: checked.count,
    signedUntil: last?.at,
    signatures,
    isTrimmed: base.seq > 0,
    break: checked.problem ?? found.problem ?? ahead ?? unsigned,
  };
}

async function checkRows(
  { base, head }: LogPart,
  rows: AsyncIterable<LogRow>,
  marks: ReadonlyMap<number, Checkpoint>,
) {
  const lastSigned = Math.max(0, ...marks.keys());
  let [before, seal]: [{ seq: number; hash: string }, string | undefined] = [
    base,
    base.seq === 0 ? '' : undefined,
  ];
  let [count, unsignedSince, problem]: [number, number | undefined, Break | undefined] = [
    0,
    undefined,
    undefined,
  ];
  const report = (row: number, message: string) => {
    problem ??= { at: { row }, message };
  };
  const baseMark = marks.get(base.seq);
  if (baseMark !== undefined && base.seq > 0) {
    if (baseMark.hash !== base.hash) report(base.seq, `Row ${base.seq} is not the one that was signed.`);
    seal = baseMark.sha256;
  }
  const proofs = new ProofCheck({ isPartial: base.seq > 0 });
  for await (const row of rows) {
    if (row.seq > head.seq) break;
    count += 1;
    const unproven = await proofs.add(row);
    if (unproven !== undefined) report(row.seq, `${unproven.replace(/^r/, 'R')}.`);
    if (row.seq !== before.seq + 1) {
      report(before.seq + 1, `Row ${before.seq + 1} is missing or out of order.`);
      seal = undefined;
    } else {
      const digest = row.body === '' ? '' : await digestOf('SHA-256', row.body);
      if ((await digestOf('SHA-1', linkText(row, before.hash, digest))) !== row.hash)
        report(row.seq, `Row ${row.seq} is not what was written.`);
      if (seal !== undefined) seal = await digestOf('SHA-256', sealText(row, seal));
    }
    const mark = marks.get(row.seq);
    if (mark !== undefined) {
      if (mark.hash !== row.hash || (seal !== undefined && seal !== mark.sha256))
        report(row.seq, `Row ${row.seq} is not the one that was signed.`);
      seal = mark.sha256;
    }
    if (row.seq > lastSigned) unsignedSince = Math.min(unsignedSince ?? row.at, row.at);
    before = { seq: row.seq, hash: row.hash };
  }
  if (before.seq !== head.seq || before.hash !== head.hash)
    report(before.seq + 1, `The log ends at row ${before.seq}, but ${head.seq} were written.`);
  return { rows: count, proven: proofs.proven, unsignedSince, problem };
}

type Stored = NonNullable<LogPart['checkpoints']>[number];

async function checkCheckpoints(
  stored: readonly Stored[],
  keys: ReadonlyMap<string, PublicKey>,
  isTrimmed: boolean,
) {
  const marks = new Map<number, Checkpoint>();
  const replaced = new Set<string>();
  let [last, problem]: [Checkpoint | undefined, Break | undefined] = [undefined, undefined];
  let [count, previous] = [0, ''];
  const report = (checkpoint: number, message: string) => {
    problem ??= { at: { checkpoint }, message };
  };
  for (const { n, hash, text } of stored) {
    const checkpoint = readCheckpoint(text);
    if (checkpoint === undefined || checkpoint.n !== n || (await digestOf('SHA-256', text)) !== hash) {
      report(n, `Checkpoint ${n} is not what was written.`);
      continue;
    }
    const key = keys.get(checkpoint.keyId);
    if (key === undefined || replaced.has(checkpoint.keyId)) {
      report(n, `Checkpoint ${n} is signed with the key ${checkpoint.keyId}, which does not count.`);
      continue;
    }
    if (!(await isSigned(text, key))) {
      report(n, `The signature of checkpoint ${n} is wrong.`);
      continue;
    }
    const isFirst: boolean = last === undefined && isTrimmed;
    if (!isFirst && n !== (last?.n ?? 0) + 1) report(n, `A checkpoint before checkpoint ${n} is missing.`);
    else if (!isFirst && checkpoint.previous !== previous)
      report(n, `Checkpoint ${n} does not continue the one before it.`);
    if (last !== undefined && last.keyId !== checkpoint.keyId) replaced.add(last.keyId);
    marks.set(checkpoint.seq, checkpoint);
    [last, previous, count] = [checkpoint, hash, count + 1];
  }
  return { marks, last, count, problem };
}

/** Reads a checkpoint whose text is canonical JSON, so that its hash covers all of it. */
function readCheckpoint(text: string): Checkpoint | undefined {
  const value = tryParseJson(text);
  if (!isJsonObject(value) || canonicalJson(value) !== text || value.v !== 1) return undefined;
  const { n, at, seq, hash, sha256, previous, keyId, signature } = value;
  const areNumbers = [n, at, seq].every((each) => typeof each === 'number');
  const areTexts = [hash, sha256, previous, keyId, signature].every((each) => typeof each === 'string');
  if (!areNumbers || !areTexts) return undefined;
  return {
    n: Number(n),
    at: Number(at),
    seq: Number(seq),
    hash: String(hash),
    sha256: String(sha256),
    previous: String(previous),
    keyId: String(keyId),
    signature: String(signature),
  };
}

async function isSigned(text: string, key: PublicKey): Promise<boolean> {
  const value = tryParseJson(text);
  if (!isJsonObject(value)) return false;
  const { signature, ...unsigned } = value;
  const bytes = new TextEncoder().encode(canonicalJson(unsigned));
  return crypto.subtle.verify('Ed25519', key, fromBase64(String(signature)), bytes);
}

const PUBLIC_PEM = /-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/g;

/** Reads public keys by the id that checkpoints name. */
async function importKeys(pem: string): Promise<ReadonlyMap<string, PublicKey> | 'not-supported'> {
  const keys = new Map<string, PublicKey>();
  for (const [, body = ''] of pem.matchAll(PUBLIC_PEM)) {
    const der = fromBase64(body.replaceAll(/\s/g, ''));
    const id = hex(await crypto.subtle.digest('SHA-256', der)).slice(0, 16);
    try {
      keys.set(id, await crypto.subtle.importKey('spki', der, 'Ed25519', false, ['verify']));
    } catch {
      return 'not-supported';
    }
  }
  return keys;
}

async function digestOf(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  return hex(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)));
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
