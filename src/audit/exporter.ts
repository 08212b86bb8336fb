import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditStore } from '../store/port/audit.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { checkpointLine, type ExportLine, rowLine } from './export-line.ts';
import { exportIn, type SinkProgress } from './export-progress.ts';
import { type Refusal, Signer, type SignerMemory, type SignResult } from './signer.ts';
import type { SigningKey } from './signing-key.ts';
import { type AuditSettings, type Sink, sinksOf, trimExported } from './sinks.ts';
import { LONGEST_UNSIGNED_MS } from './verify.ts';

export interface ExporterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ExporterOptions {
  readonly store: AuditStore & DocumentStore;
  /** Read anew in every round, because the manifest may have been replaced. */
  readonly settings: () => AuditSettings;
  /** Without a key there are no checkpoints. */
  readonly key: SigningKey | undefined;
  /** The memory of the signer outside Redis. */
  readonly memory: SignerMemory;
  readonly log: ExporterLog;
  /** Called in every round in which nothing is signed for a reason; `isNew` if the round before had another or none. */
  readonly onRefusal?: (refusal: Refusal, isNew: boolean) => void;
  /** Called in every round in which a sink did not take what it lacks. */
  readonly onExportFailure?: (failure: ExportFailure) => void;
  readonly everyMs?: number;
  readonly checkpointEveryMs?: number;
  /** The time after which another process takes over from one that died. */
  readonly leaseMs?: number;
  readonly unsignedAfterMs?: number;
}

/** A sink that does not take what it lacks. */
export interface ExportFailure {
  readonly sink: 'file' | 'http';
  /** The rounds that have failed in a row in this process. */
  readonly failures: number;
  /** The last row that the sink has. */
  readonly seq: number;
}

export interface Exporter {
  /** Signs and exports what is left, as far as that is quick, and releases the lease. */
  stop(): Promise<void>;
}

const EVERY_MS = 10_000;
const CHECKPOINT_EVERY_MS = 30_000;
const LEASE_MS = 60_000;
const TRIM_EVERY_MS = 3_600_000;
const STOP_TIMEOUT_MS = 5_000;
const BATCH = 100;
const LONGEST_BACK_OFF_MS = 60_000;

interface BackOff {
  readonly failures: number;
  readonly until: number;
}

/** Signs and exports the audit log for as long as the process lives. Of all processes one does it at a time; the others watch it. */
export function startExporter(options: ExporterOptions): Exporter {
  const { store, settings, key, memory, log, everyMs = EVERY_MS } = options;
  const { onRefusal = () => {}, onExportFailure = () => {} } = options;
  const { checkpointEveryMs = CHECKPOINT_EVERY_MS, leaseMs = LEASE_MS } = options;
  const { unsignedAfterMs = LONGEST_UNSIGNED_MS } = options;
  const owner = randomUUID();
  const signer = key && new Signer({ store, key, memory, log, unsignedAfterMs });
  const stopping = new AbortController();
  const backOffs = new Map<string, BackOff>();
  let [signedAt, trimmedAt, workedAt] = [0, Date.now(), Date.now()];
  let refusing: Refusal | undefined;

  const record = exportIn(store);
  const holdsLease = (): Promise<boolean> => record.claim(owner, leaseMs);

  function report(result: SignResult): void {
    const refusal = result.outcome === 'refused' ? result : undefined;
    const isNew = refusal?.code !== refusing?.code || refusal?.checkpoint !== refusing?.checkpoint;
    refusing = refusal;
    if (refusal === undefined) {
      if (isNew) log.info({}, 'audit log is signed again');
      return;
    }
    const { code, checkpoint } = refusal;
    if (isNew)
      log.error({ code, checkpoint }, 'audit log is not signed: it does not continue what was signed');
    onRefusal(refusal, isNew);
  }

  async function signIfDue(isHeld: boolean): Promise<void> {
    if (signer === undefined || (Date.now() < signedAt + checkpointEveryMs && !stopping.signal.aborted))
      return;
    report(isHeld ? await signer.sign(owner, holdsLease) : await signer.follow());
    signedAt = Date.now();
  }

  async function exportTo(sink: Sink, known: SinkProgress | undefined): Promise<void> {
    let { seq, checkpoint, version } = known ?? { seq: 0, checkpoint: 0, version: undefined };
    const logId = await record.readLogId();
    const keep = async (lines: readonly ExportLine[]): Promise<void> => {
      await sink.send(lines, logId);
      for (const line of lines) {
        if (line.type === 'checkpoint') checkpoint = line.n;
        else seq = line.seq;
      }
      version = await record.saveProgress(sink.name, { seq, checkpoint }, version);
      if (version === undefined || !(await holdsLease())) throw new LeaseLostError();
    };
    await inBatches(mapEach(store.exportAudit(seq), rowLine), keep);
    await inBatches(checkpointLines(store, checkpoint), keep);
  }

  async function tryExport(sink: Sink, known: SinkProgress | undefined): Promise<void> {
    const { failures, until } = backOffs.get(sink.name) ?? { failures: 0, until: 0 };
    if (Date.now() < until) return;
    try {
      await exportTo(sink, known);
      backOffs.delete(sink.name);
    } catch (err) {
      if (err instanceof LeaseLostError) throw err;
      const delayMs = Math.min(1_000 * 2 ** failures, LONGEST_BACK_OFF_MS);
      backOffs.set(sink.name, { failures: failures + 1, until: Date.now() + delayMs });
      log.warn({ err, sink: sink.name, failures: failures + 1 }, 'audit export failed');
      onExportFailure({ sink: sink.kind, failures: failures + 1, seq: known?.seq ?? 0 });
    }
  }

  async function runOnce(): Promise<void> {
    const current = settings();
    const sinks = sinksOf(current);
    if (signer === undefined && sinks.length === 0) return;
    const isHeld = await holdsLease();
    await signIfDue(isHeld);
    if (!isHeld) return;
    const progress = await record.readProgress();
    for (const sink of sinks) await tryExport(sink, progress.get(sink.name));
    const { retentionMs } = current;
    // Nothing leaves a log that cannot be signed.
    if (retentionMs === undefined || refusing !== undefined || Date.now() - trimmedAt < TRIM_EVERY_MS) return;
    trimmedAt = Date.now();
    const { rows, checkpoints } = await trimExported(store, { sinks, olderThanMs: retentionMs });
    log.info({ rows, checkpoints }, 'audit log trimmed');
  }

  async function tryOnce(): Promise<void> {
    try {
      await runOnce();
      workedAt = Date.now();
    } catch (err) {
      if (err instanceof LeaseLostError) return;
      log.warn({ err }, 'audit export failed');
      if (signer !== undefined && Date.now() - workedAt > unsignedAfterMs)
        report({ outcome: 'refused', code: 'failing', checkpoint: 0 });
    }
  }

  async function runUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      await tryOnce();
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    await tryOnce();
    await record.release(owner).catch(() => {});
  }

  const running = runUntilStopped();
  return {
    async stop() {
      stopping.abort();
      await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** Another process has taken the export over. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

async function* checkpointLines(store: AuditStore, after: number): AsyncGenerator<ExportLine> {
  for await (const { text } of store.readCheckpoints(after)) {
    const checkpoint = parseCheckpoint(text);
    // A checkpoint that somebody damaged in Redis is missing from the export, and the verification says so.
    if (checkpoint !== undefined) yield checkpointLine(checkpoint);
  }
}

async function* mapEach<From, To>(
  items: AsyncIterable<From>,
  change: (item: From) => To,
): AsyncGenerator<To> {
  for await (const item of items) yield change(item);
}

async function inBatches<Item>(
  items: AsyncIterable<Item>,
  take: (batch: readonly Item[]) => Promise<void>,
): Promise<void> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    await take(batch);
    batch = [];
  }
  if (batch.length > 0) await take(batch);
}
