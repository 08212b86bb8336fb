import type { JsonObject } from '../../agent/json.ts';

/** One row of the audit log, as it was written. */
export interface AuditRow {
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  readonly detail: string;
  readonly body: string;
  readonly hash: string;
}

/** One row as an export or a checkpoint knows it. */
export interface AuditMark {
  readonly seq: number;
  readonly hash: string;
  /** The SHA-256 chain up to this row, where it is known. */
  readonly sha256?: string | undefined;
}

/** A fault in the log, and the row where it shows. */
export interface AuditProblem {
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

/** The progress of the export to one sink: the numbers of the last row and of the last checkpoint that it has. */
export interface SinkProgress {
  readonly seq: number;
  readonly checkpoint: number;
}

/** The log of everything that was decided, refused, started and finished: one chain of rows. */
export interface AuditStore {
  /** Writes a row for something that is no transition of a request; the same id is written once. */
  note(noteId: string, event: string, subject: string, body: JsonObject): Promise<void>;
  /** Yields the rows after a number in their order, a page at a time. */
  exportAudit(after?: number): AsyncIterable<AuditRow>;
  auditEnds(): Promise<AuditEnds>;
  /** Checks the chain. Marks of checkpoints or of an earlier export reveal a chain that was rewritten. */
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
  /** Reads the id of this log, which no other installation has; '' before the first export. */
  readLogId(): Promise<string>;
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
