import { createHash, hash } from 'node:crypto';
import { type AuditMark, type AuditProblem, type AuditRow, ROW_VERSION } from './audit-row.ts';
import { linkText, sealText } from './chain-text.ts';

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Computes the hash of a row from the hash before it, as `lib/audit.lua` does. */
export function linkOf(row: Omit<AuditRow, 'hash'>, before: string): string {
  const digest = row.body === '' ? '' : sha256(row.body);
  return createHash('sha1')
    .update(linkText(row, before, digest))
    .digest('hex');
}

/** Computes the SHA-256 chain up to a row; before the first row it is ''. Checkpoints sign it, because Redis has only SHA-1. */
export function sealOf(row: AuditRow, before: string): string {
  return sha256(sealText(row, before));
}

export interface ChainCheckOptions {
  /** An export may hold rows twice, because it is sent at least once. */
  readonly repeats?: boolean;
  /** An export may begin in the middle of the log. */
  readonly partial?: boolean;
}

/** A row whose contents were erased from an export: the hashes of the chain up to it are taken as they are, and later rows and checkpoints prove them. */
export interface ErasedRow extends AuditMark {
  readonly sha256: string;
}

/** Checks the chain row by row, also against rows that are known from elsewhere. */
export class ChainCheck {
  readonly #marks = new Map<number, AuditMark[]>();
  #highestMark = 0;
  readonly #options: ChainCheckOptions;
  readonly #problems: AuditProblem[] = [];
  readonly #misfits: { readonly row: AuditRow; readonly before: string }[] = [];
  /** The hashes of all rows by number, where rows may be repeated. */
  readonly #hashes = new Map<number, string>();
  readonly #base: number;
  #last: AuditMark;
  #rows = 0;
  /** Whether a row of a later version was found; the first is told. */
  #isNewer = false;

  constructor(base: AuditMark, marks: readonly AuditMark[], options: ChainCheckOptions = {}) {
    for (const mark of marks) {
      this.#marks.set(mark.seq, [...(this.#marks.get(mark.seq) ?? []), mark]);
      this.#highestMark = Math.max(this.#highestMark, mark.seq);
    }
    this.#options = options;
    this.#base = base.seq;
    this.#last = { ...base, sha256: base.seq === 0 ? '' : undefined };
    if (base.seq > 0) this.#compare(base);
  }

  /** The number of the last checked row. */
  get last(): number {
    return this.#last.seq;
  }

  get rows(): number {
    return this.#rows;
  }

  add(row: AuditRow): void {
    const { v, seq, hash: own } = row;
    if (v > ROW_VERSION) {
      const message = `row ${seq} has version ${v}, and this Countersign reads versions up to ${ROW_VERSION}; verify with a newer one`;
      if (!this.#isNewer) this.#report(seq, 'newer', message);
      this.#isNewer = true;
    }
    if (this.#options.partial && this.#rows === 0 && this.#last.seq === 0 && seq > 1) {
      this.#rows = 1;
      this.#last = { seq, hash: own };
      this.#remember(row);
      this.#compare(row);
      return;
    }
    if (seq <= this.#last.seq) {
      this.#addEarlier(row);
      return;
    }
    const before = this.#last;
    this.#rows += 1;
    const follows = seq === before.seq + 1;
    const sha256 = follows && before.sha256 !== undefined ? sealOf(row, before.sha256) : undefined;
    this.#last = { seq, hash: own, sha256 };
    if (!follows) {
      const missing =
        seq - before.seq === 2 ? `row ${seq - 1} is` : `rows ${before.seq + 1} to ${seq - 1} are`;
      this.#report(before.seq + 1, 'removed', `${missing} missing`);
    } else if (linkOf(row, before.hash) !== own) {
      this.#misfits.push({ row, before: before.hash });
    }
    this.#remember(row);
    this.#compare(row);
  }

  /** Adds a row without contents. */
  addErased({ seq, hash: own, sha256 }: ErasedRow): void {
    if (seq <= this.#last.seq) {
      if (this.#hashes.get(seq) !== own)
        this.#report(seq, 'changed', `row ${seq} appears more than once, with different contents`);
      return;
    }
    if (seq !== this.#last.seq + 1)
      this.#report(this.#last.seq + 1, 'removed', `rows before row ${seq} are missing`);
    this.#rows += 1;
    this.#last = { seq, hash: own, sha256 };
    this.#remember(this.#last);
    this.#compare(this.#last);
  }

  /** Ends the check; `head` is the last row that was written, where that is known. */
  end(head: AuditMark = this.#last): readonly AuditProblem[] {
    for (const { row } of this.#misfits) {
      const home = this.#homeOf(row);
      if (home === undefined) this.#report(row.seq, 'changed', `row ${row.seq} is not what was written`);
      else this.#report(row.seq, 'moved', `row ${row.seq} holds what was written as row ${home}`);
    }
    if (this.#last.seq !== head.seq || this.#last.hash !== head.hash) {
      const message = `the log ends at row ${this.#last.seq}, but ${head.seq} were written`;
      this.#report(this.#last.seq + 1, 'cut-off', message);
    } else {
      const known = this.#highestMark;
      const message =
        head.seq === 0
          ? `all rows are missing, and there were at least ${known}`
          : `row ${known} was signed or exported, but the log ends at row ${head.seq}`;
      if (known > head.seq) this.#report(known, 'cut-off', message);
    }
    return this.#problems.sort((a, b) => a.seq - b.seq);
  }

  /** A row with a number that came before: a repetition where that is allowed, otherwise a fault. */
  #addEarlier(row: AuditRow): void {
    const { seq } = row;
    if (!this.#options.repeats) {
      this.#rows += 1;
      const message = seq <= this.#base ? 'is there, although it was removed' : 'appears more than once';
      this.#report(seq, 'changed', `row ${seq} ${message}`);
      return;
    }
    const known = this.#hashes.get(seq);
    const before = seq === 1 ? '' : this.#hashes.get(seq - 1);
    if (known === undefined) {
      this.#remember(row);
      this.#report(seq, 'moved', `row ${seq} comes after row ${this.#last.seq}`);
    } else if (known !== row.hash || (before !== undefined && linkOf(row, before) !== row.hash)) {
      this.#report(seq, 'changed', `row ${seq} appears more than once, with different contents`);
    }
  }

  #remember({ seq, hash: own }: AuditMark): void {
    if (this.#options.repeats) this.#hashes.set(seq, own);
  }

  /** Compares a row with what is known of it from elsewhere, and goes on from there. */
  #compare({ seq, hash: own }: AuditMark): void {
    const marks = this.#marks.get(seq) ?? [];
    const { sha256 } = this.#last;
    const isSame = (mark: AuditMark): boolean =>
      mark.hash === own && (mark.sha256 === undefined || sha256 === undefined || mark.sha256 === sha256);
    if (!marks.every(isSame)) {
      const message = `row ${seq} is not the one that was signed or exported; the log was written anew`;
      this.#report(seq, 'rewritten', message);
    }
    const sealed = marks.find((mark) => mark.sha256 !== undefined);
    if (sealed !== undefined) this.#last = { ...this.#last, sha256: sealed.sha256 };
  }

  /** Finds the number under which a misplaced row would fit; the row before it may have been moved as well. */
  #homeOf(row: AuditRow): number | undefined {
    const hashes = this.#misfits.flatMap((misfit) => [misfit.before, misfit.row.hash]);
    return this.#misfits
      .map((misfit) => misfit.row.seq)
      .find(
        (seq) => seq !== row.seq && hashes.some((before) => linkOf({ ...row, seq }, before) === row.hash),
      );
  }

  #report(seq: number, problem: AuditProblem['problem'], message: string): void {
    this.#problems.push({ seq, problem, message });
  }
}

/** A log whose rows can be read, and its ends. */
interface ReadableLog {
  auditEnds(): Promise<{ readonly base: AuditMark; readonly head: AuditMark }>;
  exportAudit(after?: number): AsyncIterable<AuditRow>;
}

/** Checks the chain of a log. Marks of checkpoints or of an earlier export reveal a chain that was rewritten. */
export async function verifyChain(
  store: ReadableLog,
  marks: readonly AuditMark[] = [],
): Promise<{ readonly rows: number; readonly problems: readonly AuditProblem[] }> {
  const { base } = await store.auditEnds();
  const check = new ChainCheck(base, marks);
  for await (const row of store.exportAudit()) check.add(row);
  // The log may have grown meanwhile, so the rows up to the current head are read as well.
  const { head } = await store.auditEnds();
  for await (const row of store.exportAudit(check.last)) {
    if (row.seq > head.seq) break;
    check.add(row);
  }
  return { problems: check.end(head), rows: check.rows };
}
