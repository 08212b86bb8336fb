import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCheckpoint } from '../../audit/checkpoint.ts';
import { checkpointLine, rowLine } from '../../audit/export-line.ts';
import { mergeRows } from '../../audit/merge-rows.ts';
import type { AuditMark } from '../../store/port/audit.ts';
import type { Store } from '../../store/port/store.ts';
import { type Command, EXIT, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { parseTime, readOptions } from '../shared/options.ts';
import { readMarks, writeMarks } from './audit-marks.ts';
import { type AuditFilter, describeRow, fits, PeopleNames, RowReader } from './audit-view.ts';

const FOLLOW_EVERY_MS = 1_000;

const OPTIONS = {
  json: { type: 'boolean' },
  checkpoints: { type: 'boolean' },
  follow: { type: 'boolean' },
  since: { type: 'string' },
  until: { type: 'string' },
  tool: { type: 'string' },
  person: { type: 'string' },
  request: { type: 'string' },
  after: { type: 'string' },
  marks: { type: 'string' },
} as const;

/** Prints the audit log in the order of time, and can continue where an earlier export ended. */
export const audit: Command = {
  help: `Usage: countersign audit [filters] [--follow] [--json] [--checkpoints] [--after FILE] [--marks FILE]

Prints the audit log in chronological order, a line for each row: when, what happened, the tool, the people, the
request. Only REDIS_URL is needed; with SLACK_BOT_TOKEN people are shown by name.

  --since TIME   only rows from this time on: 2026-01-31, 2026-01-31T12:00:00Z, or an age such as 30m, 4h, 2d
  --until TIME   only rows before this time
  --tool NAME    only rows about requests of this tool
  --person WHO   only rows that name this person, by id or by name
  --request ID   only rows about this request
  --follow       go on and print new rows until stopped
  --json         print one JSON object per line, as in the export
  --checkpoints  with --json: print the signed checkpoints as well, so that the output can be verified offline
  --after FILE   print only rows after the marks in this file
  --marks FILE   write marks of the last printed rows to this file

To keep a copy up to date, use the same file for both; it may be missing the first time:
  countersign audit --json --after marks.json --marks marks.json >> audit.jsonl
`,
  async run(args, context) {
    const { values } = readOptions(args, OPTIONS);
    const filter: AuditFilter = {
      since: parseTime('--since', values.since),
      until: parseTime('--until', values.until),
      tool: values.tool,
      person: values.person,
      request: values.request,
    };
    if (values.checkpoints && !values.json) throw new UsageError('--checkpoints needs --json');
    const after = await marksAfter(values);
    const marks = new Map(after.map((mark) => [mark.shard, mark]));
    const names = new PeopleNames(context.environment);
    const reader = new RowReader();

    const printNew = async (store: Store): Promise<void> => {
      const ends = await store.auditEnds();
      const from = ends.map(({ head: { shard } }) => ({ shard, after: marks.get(shard)?.seq ?? 0 }));
      for await (const row of mergeRows(store, from)) {
        marks.set(row.shard, { shard: row.shard, seq: row.seq, hash: row.hash });
        const read = reader.read(row);
        if (!(await fits(read, filter, names))) continue;
        await context.write(
          `${values.json ? JSON.stringify(rowLine(row)) : await describeRow(read, names)}\n`,
        );
      }
    };
    await withRecord(context, async ({ store }) => {
      await printNew(store);
      while (values.follow && !context.signal?.aborted) {
        await sleep(FOLLOW_EVERY_MS, undefined, { ...(context.signal && { signal: context.signal }) }).catch(
          () => {},
        );
        await printNew(store);
      }
      if (!values.checkpoints) return;
      for await (const { text } of store.readCheckpoints()) {
        const checkpoint = parseCheckpoint(text);
        if (checkpoint !== undefined) await context.write(`${JSON.stringify(checkpointLine(checkpoint))}\n`);
      }
    });
    if (values.marks !== undefined) await writeMarks(values.marks, marks.values());
    return EXIT.ok;
  },
};

/** Reads the marks to continue from. Where they are kept in the file that is written, the first time has none. */
async function marksAfter(values: {
  readonly after?: string | undefined;
  readonly marks?: string | undefined;
}): Promise<readonly AuditMark[]> {
  const { after, marks } = values;
  if (after === undefined) return [];
  const isFirst = marks !== undefined && resolve(after) === resolve(marks) && !existsSync(after);
  return isFirst ? [] : readMarks(after);
}
