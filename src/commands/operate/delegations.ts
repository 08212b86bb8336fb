import { showLine } from '../../bot/cards/values/show-text.ts';
import { delegationsNow } from '../../bot/delegations/stand-ins.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { formatTable } from '../shared/table.ts';

const HEADINGS = ['for', 'decides', 'since', 'until', 'reason'];

/** Lists who decides for whom. */
export const delegations: Command = {
  help: `Usage: countersign delegations [--json]

Prints the delegations that hold: who decides for whom, since when, until when, and why. Only REDIS_URL is needed. People give
and end them in Slack, with "/countersign delegate"; admins can end those of others with "/countersign delegations".

  --json         print one JSON object per line

Exit code: 0 also if there are none, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const held = await delegationsNow(store);
      const rows = held.map(({ from, to, startedAt, until, reason }) =>
        [from, to, time(startedAt), time(until), reason].map(showLine),
      );
      const table = rows.length === 0 ? [] : formatTable([HEADINGS, ...rows]);
      const lines = values.json ? held.map((each) => JSON.stringify(each)) : table;
      for (const line of lines) await context.write(`${line}\n`);
      return EXIT.ok;
    });
  },
};

function time(moment: number): string {
  return new Date(moment).toISOString().slice(0, 16).replace('T', ' ');
}
