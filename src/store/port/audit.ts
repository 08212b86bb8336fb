import type { JsonObject } from '../../agent/json.ts';

/** One row of the audit log, as it was written. */
export interface AuditRow {
  readonly shard: number;
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  readonly detail: string;
  readonly body: string;
  readonly hash: string;
}

/** One row of a shard as an export or a checkpoint knows it. */
export interface AuditMark {
  readonly shard: number;
  readonly seq: number;
  readonly hash: string;
  /** The SHA-256 chain up to this row, where it is known. */
  readonly sha256?: string | undefined;
}

/** A fault in the log, and the row where it shows. */
export interface AuditProblem {
  readonly shard: number;
  readonly seq: number;
  readonly problem: 'changed' | 'removed' | 'moved' | 'cut-off' | 'rewritten';
  readonly message: string;
}

/** The first row that is still in Redis is chained to `base`; `head` is the last one written. */
export interface AuditEnds {
  readonly base: AuditMark;
  readonly head: AuditMark;
}

/** A checkpoint as it is stored: its number, its hash and its text. */
export interface StoredCheckpoint {
  readonly n: number;
  readonly hash: string;
  readonly text: string;
}

/** The progress of the export to one sink: the last row of each shard, and the last checkpoint. */
export interface SinkProgress {
  readonly marks: readonly AuditMark[];
  readonly checkpoint: number;
}

/** The log of everything that was decided, refused, started and finished. */
export interface AuditStore {
  /** Writes a row for something that is no transition of a request; the same id is written once. */
  note(noteId: string, event: string, subject: string, body: JsonObject): Promise<void>;
  /** Yields rows shard by shard, a page at a time; with marks, only the rows after them. */
  exportAudit(after?: readonly AuditMark[]): AsyncIterable<AuditRow>;
  /** Yields the rows of one shard after a row, a page at a time. */
  readAudit(shard: number, after?: number, pageSize?: number): AsyncIterable<AuditRow>;
  /** Reads the ends of every shard that has rows, or had some. */
  auditEnds(): Promise<readonly AuditEnds[]>;
  /** Checks the chains. Marks of checkpoints or of an earlier export reveal a chain that was rewritten. */
  verifyAudit(
    marks?: readonly AuditMark[],
  ): Promise<{ readonly rows: number; readonly problems: readonly AuditProblem[] }>;
  /** Removes exported rows; refused if the mark is not a row of this log. */
  trimAudit(
    mark: AuditMark,
  ): Promise<
    { readonly outcome: 'trimmed'; readonly rows: number } | { readonly outcome: 'not-as-exported' }
  >;

  /** Claims or renews the lease of the one process that signs and exports; a lease of 0 ms releases it. */
  claimExport(owner: string, leaseMs: number): Promise<'held' | 'other'>;
  saveProgress(owner: string, sink: string, progress: SinkProgress): Promise<'saved' | 'not-held'>;
  /** Reads the progress of every sink that was ever exported to, by its name. */
  readProgress(): Promise<ReadonlyMap<string, SinkProgress>>;
  /** Appends the next checkpoint; `previous` is the hash of the one before it. */
  appendCheckpoint(
    owner: string,
    checkpoint: StoredCheckpoint & { readonly previous: string },
  ): Promise<'appended' | 'not-held' | 'not-next'>;
  /** Yields checkpoints in order, a page at a time. */
  readCheckpoints(after?: number): AsyncIterable<StoredCheckpoint>;
  lastCheckpoint(): Promise<StoredCheckpoint | undefined>;
  /** Removes the checkpoints before a number, and returns how many. */
  trimCheckpoints(before: number): Promise<number>;
}
