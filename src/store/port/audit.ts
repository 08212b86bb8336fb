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

/** The last row that an export has of one shard. */
export interface AuditMark {
  readonly shard: number;
  readonly seq: number;
  readonly hash: string;
}

/** A fault in the log, and the row where it shows. */
export interface AuditProblem {
  readonly shard: number;
  readonly seq: number;
  readonly problem: 'changed' | 'removed' | 'moved' | 'cut-off' | 'rewritten';
  readonly message: string;
}

/** The log of everything that was decided, refused, started and finished. */
export interface AuditStore {
  /** Writes a row for something that is no transition of a request; the same id is written once. */
  note(noteId: string, event: string, subject: string, body: JsonObject): Promise<void>;
  /** Yields rows shard by shard, a page at a time; with marks, only the rows after them. */
  exportAudit(after?: readonly AuditMark[]): AsyncIterable<AuditRow>;
  /** Checks the chains. Marks of an earlier export reveal a chain that was rewritten. */
  verifyAudit(
    marks?: readonly AuditMark[],
  ): Promise<{ readonly rows: number; readonly problems: readonly AuditProblem[] }>;
  /** Removes exported rows; refused if the mark is not a row of this log. */
  trimAudit(
    mark: AuditMark,
  ): Promise<
    { readonly outcome: 'trimmed'; readonly rows: number } | { readonly outcome: 'not-as-exported' }
  >;
}
