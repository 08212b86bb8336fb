import type { JsonObject } from '../../agent/json.ts';
import type { AuditMark, AuditRow } from '../record/audit-row.ts';
import type { AuditEvent } from './audit-events.ts';

export type { AuditMark, AuditProblem, AuditRow } from '../record/audit-row.ts';

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
  note(noteId: string, event: AuditEvent, subject: string, body: JsonObject): Promise<void>;
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
