import type { KeyObject } from 'node:crypto';
import type { AuditMark, AuditProblem, AuditStore } from '../store/port/audit.ts';
import { ChainCheck } from '../store/record/chain-check.ts';
import { CheckpointCheck, type CheckpointProblem, parseCheckpoint } from './checkpoint.ts';
import { parseLine, timeOf } from './export-line.ts';

export type PublicKeys = ReadonlyMap<string, KeyObject>;

export interface LineProblem {
  readonly line: number;
  readonly problem: 'unreadable';
  readonly message: string;
}

export type VerificationProblem = AuditProblem | CheckpointProblem | LineProblem;

export interface Verification {
  readonly rows: number;
  /** The rows of an export whose contents were erased; the `erased` rows of the log say when and why. */
  readonly erased?: number;
  readonly checkpoints: number;
  /** The time of the last checkpoint: its signature covers what was written before. */
  readonly signedUntil: string | undefined;
  readonly problems: readonly VerificationProblem[];
}

/** The lines of an export, which are read more than once. */
export type ExportLines = () => AsyncIterable<string>;

/** Checkpoints are made at least once a minute; rows that wait for one much longer are a fault. */
const LONGEST_UNSIGNED_MS = 300_000;

/** The summary of an export, without its rows. */
export interface ExportSummary {
  readonly checkpoints: CheckpointCheck;
  /** The last row of each shard. */
  readonly ends: readonly AuditMark[];
}

/** Checks an export with public keys alone. `partial` allows it to begin in the middle of the log, as a rotated file does. */
export async function verifyExport(
  lines: ExportLines,
  keys: PublicKeys,
  { partial = false }: { readonly partial?: boolean } = {},
): Promise<Verification> {
  const { checkpoints, unreadable } = await readCheckpointLines(lines, keys, partial);
  const marks = new Map<number, AuditMark[]>();
  for (const mark of checkpoints.marks) {
    const group = marks.get(mark.shard);
    if (group === undefined) marks.set(mark.shard, [mark]);
    else group.push(mark);
  }
  const checkOf = (shard: number): ChainCheck =>
    new ChainCheck({ shard, seq: 0, hash: '' }, marks.get(shard) ?? [], { repeats: true, partial });
  const checks = new Map([...marks.keys()].map((shard) => [shard, checkOf(shard)]));
  const signed = signedRows(checkpoints);
  const erased = new Set<string>();
  let [rows, newest, waiting] = [0, checkpoints.last?.at ?? 0, Number.POSITIVE_INFINITY];
  for await (const text of lines()) {
    const line = parseLine(text);
    if (line === undefined || line.type === 'checkpoint') continue;
    const check = checks.get(line.shard) ?? checkOf(line.shard);
    checks.set(line.shard, check);
    if (line.type === 'row') check.add(line);
    else {
      check.addErased(line);
      erased.add(`${line.shard} ${line.seq}`);
    }
    newest = Math.max(newest, line.at);
    if (line.seq > (signed.get(line.shard) ?? 0)) waiting = Math.min(waiting, line.at);
  }
  // The rows of a shard in which nothing has happened since the first checkpoint are in an earlier file.
  const earlier = new Map(
    partial ? checkpoints.first?.heads.map(({ shard, seq }) => [shard, seq]) : undefined,
  );
  const problems: VerificationProblem[] = [...checkpoints.problems, ...unreadable];
  for (const [shard, check] of [...checks].sort(([left], [right]) => left - right)) {
    if (check.rows === 0 && earlier.get(shard) === signed.get(shard)) continue;
    rows += check.rows;
    problems.push(...check.end());
  }
  if (rows > 0 && checkpoints.count === 0)
    problems.push({
      checkpoint: 1,
      problem: 'missing',
      message: 'there is no checkpoint, so nothing is proven',
    });
  else problems.push(...unsigned(checkpoints, waiting, newest));
  return { rows, erased: erased.size, problems, ...summaryOf(checkpoints) };
}

/** Reads of an export what a check of Redis can be held against. */
export async function summarizeExport(lines: ExportLines, keys: PublicKeys): Promise<ExportSummary> {
  const { checkpoints } = await readCheckpointLines(lines, keys, true);
  const ends = new Map<number, AuditMark>();
  for await (const text of lines()) {
    const line = parseLine(text);
    if (line === undefined || line.type === 'checkpoint' || line.seq < (ends.get(line.shard)?.seq ?? 0))
      continue;
    ends.set(line.shard, { shard: line.shard, seq: line.seq, hash: line.hash });
  }
  return { checkpoints, ends: [...ends.values()] };
}

/** Checks the log in Redis: the chains, the checkpoints, and both against an export or its marks where there are any. */
export async function verifyLog(
  store: AuditStore,
  {
    keys,
    against,
    marks = [],
  }: {
    readonly keys: PublicKeys | undefined;
    readonly against?: ExportSummary | undefined;
    readonly marks?: readonly AuditMark[];
  },
): Promise<Verification> {
  const before = await store.auditEnds();
  const checkpoints = new CheckpointCheck(keys ?? new Map());
  // Old checkpoints leave Redis together with old rows.
  const partial = before.some(({ base }) => base.seq > 0);
  if (keys !== undefined)
    for await (const { n, text } of store.readCheckpoints())
      checkpoints.add(parseCheckpoint(text), { n, partial });
  const exported = against?.checkpoints;
  const known = [...marks, ...checkpoints.marks, ...(exported?.marks ?? []), ...(against?.ends ?? [])];
  const { rows, problems: found } = await store.verifyAudit(known);
  const problems: VerificationProblem[] = [...checkpoints.problems, ...found];
  if (keys !== undefined) {
    problems.push(...missingIn(checkpoints, exported));
    problems.push(...unsigned(checkpoints, await longestWaiting(store, checkpoints), Date.now()));
  }
  return { rows, problems, ...summaryOf(checkpoints) };
}

async function readCheckpointLines(lines: ExportLines, keys: PublicKeys, partial: boolean) {
  const checkpoints = new CheckpointCheck(keys);
  const unreadable: LineProblem[] = [];
  let number = 0;
  for await (const text of lines()) {
    number += 1;
    const line = parseLine(text);
    if (line === undefined)
      unreadable.push({
        line: number,
        problem: 'unreadable',
        message: `line ${number} is neither a row nor a checkpoint`,
      });
    if (line?.type !== 'checkpoint') continue;
    const { type: _type, ...checkpoint } = line;
    checkpoints.add(checkpoint, { n: checkpoint.n, partial });
  }
  return { checkpoints, unreadable };
}

/** Finds the checkpoints that an export has and Redis has not, although it has earlier ones or none at all. */
function missingIn(stored: CheckpointCheck, exported: CheckpointCheck | undefined): CheckpointProblem[] {
  const first = stored.first?.n ?? 1;
  return [...(exported?.hashes ?? [])]
    .filter(([n, hash]) => n >= first && stored.hashes.get(n) !== hash)
    .map(([n]) => ({
      checkpoint: n,
      problem: 'missing',
      message: `checkpoint ${n} was exported, but it is not in Redis`,
    }));
}

function unsigned({ last }: CheckpointCheck, since: number, until: number): CheckpointProblem[] {
  if (until - since < LONGEST_UNSIGNED_MS) return [];
  const n = (last?.n ?? 0) + 1;
  const message = `no checkpoint covers the rows since ${timeOf(since)}; checkpoint ${n} is missing, or nothing signs`;
  return since === Number.POSITIVE_INFINITY ? [] : [{ checkpoint: n, problem: 'unsigned-rows', message }];
}

/** Finds the time of the oldest row in Redis that no checkpoint covers. */
async function longestWaiting(store: AuditStore, checkpoints: CheckpointCheck): Promise<number> {
  const signed = signedRows(checkpoints);
  const times = await Promise.all(
    (await store.auditEnds()).map(async ({ head }) => {
      const seq = signed.get(head.shard) ?? 0;
      if (head.seq > seq) for await (const { at } of store.readAudit(head.shard, seq)) return at;
      return Number.POSITIVE_INFINITY;
    }),
  );
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}

function signedRows({ last }: CheckpointCheck): ReadonlyMap<number, number> {
  return new Map((last?.heads ?? []).map(({ shard, seq }) => [shard, seq]));
}

function summaryOf({ count, last }: CheckpointCheck): Pick<Verification, 'checkpoints' | 'signedUntil'> {
  return { checkpoints: count, signedUntil: last === undefined ? undefined : timeOf(last.at) };
}
