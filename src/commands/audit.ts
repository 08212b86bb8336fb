import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { showLine } from '../bot/cards/show-text.ts';
import type { AuditRow } from '../store/port/audit.ts';
import { readMarks, writeMarks } from './shared/audit-marks.ts';
import { type Command, EXIT } from './shared/command.ts';
import { withRecord } from './shared/open-record.ts';
import { readOptions } from './shared/options.ts';

/** Prints the audit log, and can go on where an earlier export ended. */
export const audit: Command = {
  help: `Usage: countersign audit [--json] [--after FILE] [--marks FILE]

Prints the audit log, a line for each row: what happened, when, to what, and what shows that it was right. The log
has 64 chains; the rows of each come in order. Only REDIS_URL is needed.

  --json         print a JSON object a line
  --after FILE   print only what came after the marks in this file
  --marks FILE   when all is printed, write to this file how far it came

To keep a copy up to date, give both the same file, which may be missing the first time:
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
    const show = values.json ? (row: AuditRow) => JSON.stringify(toObject(row)) : inWords;
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

/** What the chain covers stays as it was written, `body` and `hash` among it, so that a copy can be checked as well. */
function toObject(row: AuditRow) {
  return { time: timeOf(row.at), ...row };
}

/** A row that somebody changed may have no time at all, and is printed even so. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}

function inWords({ at, event, subject, detail, body }: AuditRow): string {
  const words = [timeOf(at), event, subject, detail, body];
  return words
    .filter((word) => word !== '')
    .map(showLine)
    .join('  ');
}
