import { showLine } from '../../bot/cards/show-text.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Lists the quarantined threads. */
export const threads: Command = {
  help: `Usage: countersign threads [--json]

Prints a line for each quarantined thread: since when, its id and the reason. The bot does not continue such a thread
until "countersign retry" releases it. Only REDIS_URL is needed.

  --json         print one JSON object per line

Exit code: 0 also if there is none, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      for (const { threadId, reason, since } of await store.listQuarantined()) {
        const time = new Date(since).toISOString();
        const line = values.json
          ? JSON.stringify({ threadId, reason, since: time })
          : `${time}  ${threadId}  ${showLine(reason)}`;
        await context.write(`${line}\n`);
      }
      return EXIT.ok;
    });
  },
};
