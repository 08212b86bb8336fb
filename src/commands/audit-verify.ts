import { readMarks } from './shared/audit-marks.ts';
import { type Command, EXIT } from './shared/command.ts';
import { withRecord } from './shared/open-record.ts';
import { readOptions } from './shared/options.ts';

/** Verifies the chains of the audit log and names every row that was changed, removed, moved or cut off. */
export const auditVerify: Command = {
  help: `Usage: countersign audit verify [--against FILE] [--json]

Verifies the chains of the audit log. Someone who can write to Redis can also rewrite a whole chain; marks of an earlier
export, kept elsewhere, reveal that.

  --against FILE the marks that "countersign audit --marks FILE" has written
  --json         print one JSON object: ok, rows, problems

Exit code: 0 all rows are intact, 1 some are not, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' }, against: { type: 'string' } });
    const marks = values.against === undefined ? [] : await readMarks(values.against);
    const { rows, problems } = await withRecord(context, ({ store }) => store.verifyAudit(marks));
    const ok = problems.length === 0;
    if (values.json) await context.write(`${JSON.stringify({ ok, rows, problems })}\n`);
    else {
      for (const { shard, seq, problem, message } of problems)
        await context.writeError(`chain ${shard}, row ${seq}: ${problem}: ${message}\n`);
      await context.write(ok ? `ok (rows: ${rows})\n` : `problems: ${problems.length} (rows: ${rows})\n`);
    }
    return ok ? EXIT.ok : EXIT.problem;
  },
};
