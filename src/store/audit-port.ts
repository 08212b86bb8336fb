import type { JsonObject } from '../agent/json.ts';

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

/** How far an export has come in one shard: the last row it holds. */
export interface AuditMark {
  readonly shard: number;
  readonly seq: number;
  readonly hash: string;
}

/** What is wrong with the log, and at which row. */
export interface AuditProblem {
  readonly shard: number;
  readonly seq: number;
  readonly problem: 'changed' | 'removed' | 'moved' | 'cut-off' | 'rewritten';
  readonly message: string;
}

/** The log of everything that was decided, refused, begun and ended. */
export interface AuditStore {
  /** Notes something that is no transition of a request; the same id again is noted once. */
  note(noteId: string, event: string, subject: string, body: JsonObject): Promise<void>;
  /** Gives rows shard by shard, a page at a time; with marks, only what came after them. */
  exportAudit(after?: readonly AuditMark[]): AsyncIterable<AuditRow>;
  /** Walks the chains and gives what does not fit; marks of an earlier export show a chain that was written anew. */
  verifyAudit(
    marks?: readonly AuditMark[],
  ): Promise<{ readonly rows: number; readonly problems: readonly AuditProblem[] }>;
  /** Removes what an export holds; refused when the mark is not a row of this log. */
  trimAudit(
    mark: AuditMark,
  ): Promise<
    { readonly outcome: 'trimmed'; readonly rows: number } | { readonly outcome: 'not-as-exported' }
  >;
}
