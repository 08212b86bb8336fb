import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditMark, AuditProblem, AuditRow, AuditStore } from '../store/port/audit.ts';
import { ChainCheck, sha256, verifyChain } from '../store/record/chain-check.ts';
import {
  type CheckpointAnchor,
  CheckpointCheck,
  type CheckpointProblem,
  hashOf,
  parseCheckpoint,
} from './checkpoint.ts';
import { erasedBy } from './erase-export.ts';
import { parseLine, timeOf } from './export-line.ts';
import { ProofCheck, type ProofRow, type RedactedValues } from './proof-check.ts';

export type PublicKeys = ReadonlyMap<string, KeyObject>;

export interface LineProblem {
  readonly line: number;
  readonly problem: 'unreadable';
  readonly message: string;
}

/** An approval that its passkey does not prove. */
export interface ProofFault {
  readonly seq: number;
  readonly problem: 'proof';
  readonly message: string;
}

export type VerificationProblem = AuditProblem | CheckpointProblem | LineProblem | ProofFault;

/** A thing that a check could not prove with what it was given. */
export type Unproven = 'signatures' | 'end' | 'trimmed-rows' | 'redacted' | 'erased-rows';

export interface Verification {
  readonly rows: number;
  /** The rows of an export whose contents were erased; the `erased` rows of the log say when and why. */
  readonly erased?: number;
  /** The approvals that the approvers' own passkeys prove. */
  readonly proven: number;
  /** The values that were redacted when they were logged: only their hashes are covered by what was approved. */
  readonly redacted: readonly RedactedValues[];
  readonly checkpoints: number;
  /** The time of the last checkpoint: its signature covers what was written before. */
  readonly signedUntil: string | undefined;
  /** The last checkpoint, to be kept elsewhere and given to a later check. */
  readonly lastCheckpoint: CheckpointAnchor | undefined;
  readonly notProven: readonly Unproven[];
  readonly problems: readonly VerificationProblem[];
  /** The requests of which an export has rows that Redis has not, as after a restore. */
  readonly lost?: readonly LostRequest[];
}

/** A request whose rows are in an export and not in Redis. */
export interface LostRequest {
  readonly request: string;
  readonly title: string;
  readonly requesters: readonly string[];
  /** The events that are missing, in their order, and the time of the last one. */
  readonly events: readonly string[];
  readonly at: string;
}

/** The lines of an export, which are read more than once. */
export type ExportLines = () => AsyncIterable<string>;

/** Checkpoints are made at least once a minute; rows that wait for one much longer are a fault. */
export const LONGEST_UNSIGNED_MS = 300_000;

/** The summary of an export, without its rows. */
export interface ExportSummary {
  readonly checkpoints: CheckpointCheck;
  /** The last row. */
  readonly end: AuditMark | undefined;
  readonly lines: ExportLines;
}

export interface VerifyExportOptions {
  /** Allows the export to begin in the middle of the log, as a rotated file does. */
  readonly partial?: boolean;
  /** Checkpoints known from elsewhere. */
  readonly anchors?: readonly CheckpointAnchor[];
}

/** Checks an export with public keys alone. */
export async function verifyExport(
  lines: ExportLines,
  keys: PublicKeys,
  { partial = false, anchors = [] }: VerifyExportOptions = {},
): Promise<Verification> {
  const { checkpoints, unreadable } = await readCheckpointLines(lines, keys, partial);
  const check = new ChainCheck({ seq: 0, hash: '' }, checkpoints.marks, { repeats: true, partial });
  const proofs = new ProofCheck({ isPartial: partial, sha256 });
  const faults: ProofFault[] = [];
  const signed = checkpoints.last?.seq ?? 0;
  const erased = new Set<number>();
  const named: (readonly [number, number])[] = [];
  let [newest, waiting] = [checkpoints.last?.at ?? 0, Number.POSITIVE_INFINITY];
  for await (const text of lines()) {
    const line = parseLine(text);
    if (line === undefined || line.type === 'checkpoint') continue;
    if (line.type === 'row') {
      check.add(line);
      faults.push(...(await faultsOf(proofs, line)));
      if (line.seq <= signed) named.push(...erasedBy(line));
    } else {
      check.addErased(line);
      proofs.addErased();
      erased.add(line.seq);
    }
    newest = Math.max(newest, line.at);
    if (line.seq > signed) waiting = Math.min(waiting, line.at);
  }
  const { rows } = check;
  const unnamed = [...erased].filter((seq) => !named.some(([first, last]) => first <= seq && seq <= last));
  const problems: VerificationProblem[] = [
    ...checkpoints.problems,
    ...checkpoints.missing(anchors),
    ...unreadable,
    // A file without rows may hold a checkpoint about those in an earlier file.
    ...(partial && rows === 0 ? [] : check.end()),
    ...faults,
    // In a part of the log the row that names them may be in another part.
    ...(partial ? [] : unnamed.map(unnamedProblem)),
  ];
  if (rows > 0 && checkpoints.count === 0)
    problems.push({
      checkpoint: 1,
      problem: 'missing',
      message: 'there is no checkpoint, so nothing is proven',
    });
  else problems.push(...unsigned(checkpoints, waiting, newest));
  const { proven, redacted } = proofs;
  const notProven: Unproven[] = [
    ...(anchors.length === 0 ? (['end'] as const) : []),
    ...(redacted.length > 0 ? (['redacted'] as const) : []),
    ...(partial && unnamed.length > 0 ? (['erased-rows'] as const) : []),
  ];
  return { rows, erased: erased.size, proven, redacted, notProven, problems, ...summaryOf(checkpoints) };
}

function unnamedProblem(seq: number): AuditProblem {
  return { seq, problem: 'changed', message: `row ${seq} was erased, and no signed row names it` };
}

async function faultsOf(proofs: ProofCheck, row: ProofRow): Promise<ProofFault[]> {
  const message = await proofs.add(row);
  return message === undefined ? [] : [{ seq: row.seq, problem: 'proof', message }];
}

/** Reads of an export what a check of Redis can be held against. */
export async function summarizeExport(lines: ExportLines, keys: PublicKeys): Promise<ExportSummary> {
  const { checkpoints } = await readCheckpointLines(lines, keys, true);
  let end: AuditMark | undefined;
  for await (const text of lines()) {
    const line = parseLine(text);
    if (line === undefined || line.type === 'checkpoint' || line.seq < (end?.seq ?? 0)) continue;
    end = { seq: line.seq, hash: line.hash };
  }
  return { checkpoints, end, lines };
}

export interface VerifyLogOptions {
  readonly keys: PublicKeys | undefined;
  /** An export, which is outside Redis. */
  readonly against?: ExportSummary | undefined;
  /** Rows and checkpoints known from elsewhere. */
  readonly marks?: readonly AuditMark[];
  readonly anchors?: readonly CheckpointAnchor[];
}

/** Checks the log in Redis: the chain, the checkpoints, and both against what is known from outside Redis. */
export async function verifyLog(
  store: AuditStore,
  { keys, against, marks = [], anchors = [] }: VerifyLogOptions,
): Promise<Verification> {
  const { base } = await store.auditEnds();
  const checkpoints = new CheckpointCheck(keys ?? new Map());
  // Old checkpoints leave Redis together with old rows.
  const partial = base.seq > 0;
  if (keys !== undefined)
    for await (const { n, hash, text } of store.readCheckpoints())
      checkpoints.add(parseCheckpoint(text), { n, hash, partial });
  const exported = against?.checkpoints;
  const end = against?.end;
  const known = [...marks, ...checkpoints.marks, ...(exported?.marks ?? []), ...(end ? [end] : [])];
  const { rows, problems: found } = await verifyChain(store, known);
  const proofs = new ProofCheck({ isPartial: partial, sha256 });
  const faults: ProofFault[] = [];
  for await (const row of store.exportAudit()) faults.push(...(await faultsOf(proofs, row)));
  const problems: VerificationProblem[] = [...checkpoints.problems, ...found, ...faults];
  if (against !== undefined && base.seq > (end?.seq ?? 0))
    problems.push({
      seq: base.seq,
      problem: 'removed',
      message: `rows up to ${base.seq} are not in Redis, but the export ends at row ${end?.seq ?? 0}`,
    });
  if (keys !== undefined) {
    problems.push(...checkpoints.missing([...anchors, ...exportedSince(checkpoints, exported)]));
    problems.push(...unsigned(checkpoints, await longestWaiting(store, checkpoints), Date.now()));
  }
  const { proven, redacted } = proofs;
  const lost =
    against === undefined || problems.length === 0 ? [] : await lostRequests(store, against, base.seq);
  const isAnchored = against !== undefined || marks.length > 0 || anchors.length > 0;
  const notProven: Unproven[] = [
    ...(keys === undefined ? (['signatures'] as const) : []),
    ...(isAnchored ? [] : (['end'] as const)),
    ...(base.seq > 0 ? (['trimmed-rows'] as const) : []),
    ...(redacted.length > 0 ? (['redacted'] as const) : []),
  ];
  return { rows, proven, redacted, notProven, problems, lost, ...summaryOf(checkpoints) };
}

/** Lists the requests of which an export has rows that are not in Redis; those that left it by their age are not meant. */
async function lostRequests(
  store: AuditStore,
  { lines }: Pick<ExportSummary, 'lines'>,
  base: number,
): Promise<readonly LostRequest[]> {
  const here = new Set<string>();
  for await (const { seq, hash } of store.exportAudit()) here.add(`${seq} ${hash}`);
  const asked = new Map<string, { title: string; requesters: readonly string[] }>();
  const lost = new Map<string, { events: string[]; at: number }>();
  const seen = new Set<number>();
  for await (const text of lines()) {
    const line = parseLine(text);
    if (line?.type !== 'row' || seen.has(line.seq) || !line.subject.includes('~')) continue;
    seen.add(line.seq);
    const { subject, event, at, seq, hash } = line;
    if (event === 'asked') asked.set(subject, titleIn(line));
    if (seq <= base || here.has(`${seq} ${hash}`)) continue;
    lost.set(subject, { events: [...(lost.get(subject)?.events ?? []), event], at });
  }
  return [...lost].map(([request, { events, at }]) => ({
    request,
    ...(asked.get(request) ?? { title: '', requesters: [] }),
    events,
    at: timeOf(at),
  }));
}

const Asked = z.object({
  title: z.string().default(''),
  tool: z.string().default(''),
  requesters: z.array(z.string()).default([]),
});

function titleIn({ body }: Pick<AuditRow, 'body'>): { title: string; requesters: readonly string[] } {
  const { title = '', tool = '', requesters = [] } = Asked.safeParse(tryParseJson(body)).data ?? {};
  return { title: title === '' ? tool : title, requesters };
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

/** Lists the checkpoints of an export from the first one that is still in Redis on. */
function exportedSince(stored: CheckpointCheck, exported: CheckpointCheck | undefined): CheckpointAnchor[] {
  const first = stored.first?.n ?? 1;
  return [...(exported?.hashes ?? [])].flatMap(([n, hash]) => (n >= first ? [{ n, hash }] : []));
}

function unsigned({ last }: CheckpointCheck, since: number, until: number): CheckpointProblem[] {
  if (until - since < LONGEST_UNSIGNED_MS) return [];
  const n = (last?.n ?? 0) + 1;
  const message = `no checkpoint covers the rows since ${timeOf(since)}; checkpoint ${n} is missing, or nothing signs`;
  return since === Number.POSITIVE_INFINITY ? [] : [{ checkpoint: n, problem: 'unsigned-rows', message }];
}

/** Finds the time of the oldest row in Redis that no checkpoint covers. */
async function longestWaiting(store: AuditStore, { last }: CheckpointCheck): Promise<number> {
  for await (const { at } of store.exportAudit(last?.seq ?? 0)) return at;
  return Number.POSITIVE_INFINITY;
}

function summaryOf({
  count,
  last,
}: CheckpointCheck): Pick<Verification, 'checkpoints' | 'signedUntil' | 'lastCheckpoint'> {
  return {
    checkpoints: count,
    signedUntil: last === undefined ? undefined : timeOf(last.at),
    lastCheckpoint: last === undefined ? undefined : { n: last.n, hash: hashOf(last) },
  };
}
