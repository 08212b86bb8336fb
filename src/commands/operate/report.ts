import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { figuresOf } from '../../page/figures.ts';
import { reportHtml } from '../../page/report.ts';
import { readRequests } from '../../page/request-index.ts';
import { PeopleNames } from '../audit/audit-view.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';

const Days = z.coerce.number().int().min(1).max(3650);

/** Writes the figures of the page as one file. */
export const report: Command = {
  help: `Usage: countersign report --html FILE [--days N]

Writes how people decide as one HTML file with plots and tables: per policy and rule the requests, the approval rate,
the median and p90 of the time to a decision, the share decided within 3 seconds and what expired; the load of each
approver; the outcomes. The file needs no network and holds no script. Reads the audit log; only REDIS_URL is needed. With
SLACK_BOT_TOKEN people have names.

  --html FILE    where to write it
  --days N       only requests of the last N days (default: all in the log)

Exit code: 0 written, 1 Redis cannot be read or the file cannot be written, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { html: { type: 'string' }, days: { type: 'string' } });
    const { html: file, days: given } = values;
    if (file === undefined) throw new UsageError('--html is missing: name the file to write');
    const days = given === undefined ? undefined : Days.safeParse(given).data;
    if (given !== undefined && days === undefined)
      throw new UsageError(`--days takes a number from 1 to 3650, not "${given}"`);
    return withRecord(context, async ({ store }) => {
      const figures = figuresOf(await readRequests(store.exportAudit()), { days });
      const people = new PeopleNames(context.environment);
      const names = new Map<string, string>();
      for (const { who } of figures.approvers) names.set(who, await people.nameOf(who));
      const text = reportHtml(figures, (id) => names.get(id) ?? id, new Date());
      await writeFile(file, text).catch(() => {
        throw new Failure(`${file} cannot be written`);
      });
      await context.write(`${file}: ${figures.requests} requests\n`);
      return EXIT.ok;
    });
  },
};
