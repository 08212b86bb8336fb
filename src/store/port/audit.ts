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

/** The first row that is still in Redis is chained to `base`; `head` is the last one written, `checkpoint` the last one signed. */
export interface AuditEnds {
  readonly base: AuditMark;
  readonly head: AuditMark;
  readonly checkpoint: StoredCheckpoint | undefined;
}

/** A checkpoint as it is stored: its number, its hash and its text. */
export interface StoredCheckpoint {
  readonly n: number;
  readonly hash: string;
  readonly text: string;
}

/** The log of everything that was decided, refused, started and finished: one chain of rows. */
export interface AuditStore {
  /** Writes a row for something that is no transition of a request; the same id is written once. */
  note(noteId: string, event: string, subject: string, body: JsonObject): Promise<void>;
  /** Yields the rows after a number in their order, a page at a time. */
  exportAudit(after?: number): AsyncIterable<AuditRow>;
  auditEnds(): Promise<AuditEnds>;
  /** Removes exported rows, and the checkpoints before a number; refused if the mark is not a row of this log. */
  trimAudit(
    mark: AuditMark | undefined,
    firstCheckpoint?: number,
  ): Promise<
    | { readonly outcome: 'trimmed'; readonly rows: number; readonly checkpoints: number }
    | { readonly outcome: 'not-as-exported' }
  >;

  /** Appends the next checkpoint, for the owner of the document `lock|export`; `previous` is the hash of the one before it. */
  appendCheckpoint(
    owner: string,
    checkpoint: StoredCheckpoint & { readonly previous: string },
  ): Promise<'appended' | 'not-held' | 'not-next'>;
  /** Yields checkpoints in order, a page at a time. */
  readCheckpoints(after?: number): AsyncIterable<StoredCheckpoint>;
}
