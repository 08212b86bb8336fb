import { createHash, hash } from 'node:crypto';
import type { AuditMark, AuditProblem, AuditRow } from '../port/audit.ts';

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Computes the hash of a row from the hash before it, as `lib/audit.lua` does. */
export function linkOf(row: Omit<AuditRow, 'hash'>, before: string): string {
  const digest = row.body === '' ? '' : sha256(row.body);
  const link = [before, row.seq, row.at, row.event, row.subject, row.detail, digest].join('\n');
  return createHash('sha1').update(link).digest('hex');
}

/** Checks one shard's chain row by row, and keeps only the rows that do not fit. */
export class ChainCheck {
  readonly #marks: ReadonlyMap<number, string>;
  readonly #problems: AuditProblem[] = [];
  readonly #misfits: { readonly row: AuditRow; readonly before: string }[] = [];
  #last: AuditMark;
  #rows = 0;

  constructor(base: AuditMark, marks: readonly AuditMark[]) {
    this.#last = base;
    this.#marks = new Map(marks.map((mark) => [mark.seq, mark.hash]));
  }

  /** The number of the last checked row. */
  get last(): number {
    return this.#last.seq;
  }

  get rows(): number {
    return this.#rows;
  }

  add(row: AuditRow): void {
    const { shard, seq } = row;
    const before = this.#last;
    this.#rows += 1;
    if (seq <= before.seq) {
      this.#report(shard, seq, 'changed', `row ${seq} appears more than once`);
      return;
    }
    this.#last = row;
    if (seq !== before.seq + 1) {
      const missing =
        seq - before.seq === 2 ? `row ${seq - 1} is` : `rows ${before.seq + 1} to ${seq - 1} are`;
      this.#report(shard, before.seq + 1, 'removed', `${missing} missing`);
    } else if (linkOf(row, before.hash) !== row.hash) {
      this.#misfits.push({ row, before: before.hash });
    }
    const marked = this.#marks.get(seq);
    if (marked !== undefined && marked !== row.hash) {
      this.#report(
        shard,
        seq,
        'rewritten',
        `row ${seq} is not the one that was exported; the log was written anew`,
      );
    }
  }

  end(head: AuditMark): readonly AuditProblem[] {
    for (const { row } of this.#misfits) {
      const home = this.#homeOf(row);
      if (home === undefined)
        this.#report(row.shard, row.seq, 'changed', `row ${row.seq} is not what was written`);
      else this.#report(row.shard, row.seq, 'moved', `row ${row.seq} holds what was written as row ${home}`);
    }
    if (this.#last.seq !== head.seq || this.#last.hash !== head.hash) {
      const message = `the log ends at row ${this.#last.seq}, but ${head.seq} were written`;
      this.#report(head.shard, this.#last.seq + 1, 'cut-off', message);
    } else {
      const exported = Math.max(0, ...this.#marks.keys());
      const message = `row ${exported} was exported, but the log ends at row ${head.seq}`;
      if (exported > head.seq) this.#report(head.shard, exported, 'cut-off', message);
    }
    return this.#problems.sort((a, b) => a.seq - b.seq);
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

  #report(shard: number, seq: number, problem: AuditProblem['problem'], message: string): void {
    this.#problems.push({ shard, seq, problem, message: `Shard ${shard}: ${message}` });
  }
}
