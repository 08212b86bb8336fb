import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditStore } from '../store/port/audit.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { checkpointLine, type ExportLine, rowLine } from './export-line.ts';
import { type ExportRecord, exportIn, type SinkProgress } from './export-progress.ts';
import { type Refusal, type RefusalCode, Signer, type SignerMemory, type SignResult } from './signer.ts';
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
  /** The reason for which nothing is signed now, if there is one. */
  refusal(): RefusalCode | undefined;
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
  return new LogExporter(options);
}

class LogExporter implements Exporter {
  readonly #options: ExporterOptions;
  readonly #record: ExportRecord;
  readonly #owner = randomUUID();
  readonly #signer: Signer | undefined;
  readonly #unsignedAfterMs: number;
  readonly #refusals: Refusals;
  readonly #stopping = new AbortController();
  readonly #backOffs = new Map<string, BackOff>();
  readonly #running: Promise<void>;
  #signedAt = 0;
  #trimmedAt = Date.now();
  #workedAt = Date.now();

  constructor(options: ExporterOptions) {
    const { store, key, memory, log, onRefusal = () => {} } = options;
    const { unsignedAfterMs = LONGEST_UNSIGNED_MS } = options;
    this.#options = options;
    this.#record = exportIn(store);
    this.#signer = key && new Signer({ store, key, memory, log, unsignedAfterMs });
    this.#unsignedAfterMs = unsignedAfterMs;
    this.#refusals = new Refusals(log, onRefusal);
    this.#running = this.#runUntilStopped();
  }

  refusal(): RefusalCode | undefined {
    return this.#refusals.current?.code;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #runUntilStopped(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#tryRound();
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
    await this.#tryRound();
    await this.#record.release(this.#owner).catch(() => {});
  }

  async #tryRound(): Promise<void> {
    try {
      await this.#runRound();
      this.#workedAt = Date.now();
    } catch (err) {
      if (err instanceof LeaseLostError) return;
      this.#options.log.warn({ err }, 'audit export failed');
      if (this.#signer !== undefined && Date.now() - this.#workedAt > this.#unsignedAfterMs)
        this.#refusals.note({ outcome: 'refused', code: 'failing', checkpoint: 0 });
    }
  }

  async #runRound(): Promise<void> {
    const settings = this.#options.settings();
    const sinks = sinksOf(settings);
    if (this.#signer === undefined && sinks.length === 0) return;
    const isHeld = await this.#holdsLease();
    await this.#signIfDue(isHeld);
    // The rows of an older copy have the numbers of others that are exported already: in one file nobody could tell them apart.
    if (!isHeld || this.#refusals.current?.code === 'older-copy') return;
    const progress = await this.#record.readProgress();
    for (const sink of sinks) await this.#tryExport(sink, progress.get(sink.name));
    await this.#trimIfDue(sinks, settings.retentionMs);
  }

  #holdsLease(): Promise<boolean> {
    return this.#record.claim(this.#owner, this.#options.leaseMs ?? LEASE_MS);
  }

  async #signIfDue(isHeld: boolean): Promise<void> {
    const { checkpointEveryMs = CHECKPOINT_EVERY_MS } = this.#options;
    const signer = this.#signer;
    const isDue = Date.now() >= this.#signedAt + checkpointEveryMs || this.#stopping.signal.aborted;
    if (signer === undefined || !isDue) return;
    const holdsLease = (): Promise<boolean> => this.#holdsLease();
    this.#refusals.note(isHeld ? await signer.sign(this.#owner, holdsLease) : await signer.follow());
    this.#signedAt = Date.now();
  }

  /** Exports to a sink, unless it failed and waits. */
  async #tryExport(sink: Sink, known: SinkProgress | undefined): Promise<void> {
    const { log, onExportFailure = () => {} } = this.#options;
    const { failures, until } = this.#backOffs.get(sink.name) ?? { failures: 0, until: 0 };
    if (Date.now() < until) return;
    try {
      await this.#exportTo(sink, known);
      this.#backOffs.delete(sink.name);
    } catch (err) {
      if (err instanceof LeaseLostError) throw err;
      const delayMs = Math.min(1_000 * 2 ** failures, LONGEST_BACK_OFF_MS);
      this.#backOffs.set(sink.name, { failures: failures + 1, until: Date.now() + delayMs });
      log.warn({ err, sink: sink.name, failures: failures + 1 }, 'audit export failed');
      onExportFailure({ sink: sink.kind, failures: failures + 1, seq: known?.seq ?? 0 });
    }
  }

  /** Sends a sink what it lacks, and keeps after each batch how far it is. */
  async #exportTo(sink: Sink, known: SinkProgress | undefined): Promise<void> {
    const { store } = this.#options;
    let { seq, checkpoint, version } = known ?? { seq: 0, checkpoint: 0, version: undefined };
    const logId = await this.#record.readLogId();
    const keep = async (lines: readonly ExportLine[]): Promise<void> => {
      await sink.send(lines, logId);
      for (const line of lines) {
        if (line.type === 'checkpoint') checkpoint = line.n;
        else seq = line.seq;
      }
      version = await this.#record.saveProgress(sink.name, { seq, checkpoint }, version);
      if (version === undefined || !(await this.#holdsLease())) throw new LeaseLostError();
    };
    await inBatches(mapEach(store.exportAudit(seq), rowLine), keep);
    await inBatches(checkpointLines(store, checkpoint), keep);
  }

  async #trimIfDue(sinks: readonly Sink[], retentionMs: number | undefined): Promise<void> {
    const { store, log } = this.#options;
    // Nothing leaves a log that cannot be signed.
    if (retentionMs === undefined || this.#refusals.current !== undefined) return;
    if (Date.now() - this.#trimmedAt < TRIM_EVERY_MS) return;
    this.#trimmedAt = Date.now();
    const { rows, checkpoints } = await trimExported(store, { sinks, olderThanMs: retentionMs });
    log.info({ rows, checkpoints }, 'audit log trimmed');
  }
}

/** Remembers why the log is not signed, and tells when that changes. */
class Refusals {
  current: Refusal | undefined;
  readonly #log: ExporterOptions['log'];
  readonly #onRefusal: NonNullable<ExporterOptions['onRefusal']>;

  constructor(log: ExporterOptions['log'], onRefusal: NonNullable<ExporterOptions['onRefusal']>) {
    this.#log = log;
    this.#onRefusal = onRefusal;
  }

  note(result: SignResult): void {
    const refusal = result.outcome === 'refused' ? result : undefined;
    const isNew = refusal?.code !== this.current?.code || refusal?.checkpoint !== this.current?.checkpoint;
    this.current = refusal;
    if (refusal === undefined) {
      if (isNew) this.#log.info({}, 'audit log is signed again');
      return;
    }
    const { code, checkpoint } = refusal;
    if (isNew)
      this.#log.error({ code, checkpoint }, 'audit log is not signed: it does not continue what was signed');
    this.#onRefusal(refusal, isNew);
  }
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
