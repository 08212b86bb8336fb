import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { showLine } from '../bot/cards/show-text.ts';
import type { AuditRow } from '../store/port/audit.ts';
import { readMarks, writeMarks } from './shared/audit-marks.ts';
import { type Command, EXIT } from './shared/command.ts';
import { withRecord } from './shared/open-record.ts';
import { readOptions } from './shared/options.ts';

/** Prints the audit log; it can continue where an earlier export ended. */
export const audit: Command = {
  help: `Usage: countersign audit [--json] [--after FILE] [--marks FILE]

Prints the audit log, a line for each row: when, what happened, to what, and the evidence. The log has 64 chains; the
rows of each are in order. Only REDIS_URL is needed.

  --json         print one JSON object per line
  --after FILE   print only rows after the marks in this file
  --marks FILE   write marks of the last printed rows to this file

To keep a copy up to date, use the same file for both; it may be missing the first time:
  countersign audit --json --after marks.json --marks marks.json >> audit.jsonl
`,
  async run(args, context) {
    const { values } = readOptions(args, {
      json: { type: 'boolean' },
      after: { type: 'string' },
      marks: { type: 'string' },
    });
    const isFirst =
      values.after !== undefined &&
      values.marks !== undefined &&
      resolve(values.after) === resolve(values.marks) &&
      !existsSync(values.after);
    const after = values.after === undefined || isFirst ? [] : await readMarks(values.after);
    const show = values.json ? (row: AuditRow) => JSON.stringify(toObject(row)) : formatRow;
    const marks = new Map(after.map((mark) => [mark.shard, mark]));
    await withRecord(context, async ({ store }) => {
      for await (const row of store.exportAudit(after)) {
        await context.write(`${show(row)}\n`);
        marks.set(row.shard, { shard: row.shard, seq: row.seq, hash: row.hash });
      }
    });
    if (values.marks !== undefined) await writeMarks(values.marks, marks.values());
    return EXIT.ok;
  },
};

/** Keeps everything that the chain covers as it was written, so that a copy can be verified as well. */
function toObject(row: AuditRow) {
  return { time: timeOf(row.at), ...row };
}

/** Formats a time; a row that was tampered with may have none and is printed anyway. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}

function formatRow({ at, event, subject, detail, body }: AuditRow): string {
  const columns = [timeOf(at), event, subject, detail, body];
  return columns
    .filter((column) => column !== '')
    .map(showLine)
    .join('  ');
}
