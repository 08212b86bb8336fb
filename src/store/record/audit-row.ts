/** The form of the rows that this version writes, as `lib/audit.lua` has it. */
export const ROW_VERSION = 1;

/** One row of the audit log, as it was written. */
export interface AuditRow {
  /** The form of the row and of its body; every version is read, for ever. */
  readonly v: number;
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
  readonly problem: 'changed' | 'removed' | 'moved' | 'cut-off' | 'rewritten' | 'newer';
  readonly message: string;
}
