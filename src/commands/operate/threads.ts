import { userInfo } from 'node:os';
import { showLine } from '../../bot/cards/values/show-text.ts';
import { type Command, EXIT, UsageError } from '../shared/command.ts';
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

/** Lets the bot continue a quarantined thread. */
export const retry: Command = {
  help: `Usage: countersign retry <thread>

Releases a quarantined thread ("countersign threads" lists them), so that the bot continues it. If it fails again, it is
quarantined again. The release goes into the audit log. Only REDIS_URL is needed.

Exit code: 0 released, 1 the thread is not quarantined, 2 wrong usage.
`,
  async run(args, context) {
    const [threadId] = readOptions(args, {}, { positionals: 1 }).positionals;
    if (threadId === undefined) throw new UsageError('name a thread; "countersign threads" lists them');
    return withRecord(context, async ({ store }) => {
      const { outcome } = await store.unquarantine(threadId, {
        by: userInfo().username,
        with: 'countersign retry',
      });
      if (outcome === 'unquarantined') {
        await context.write(`${threadId} is released\n`);
        return EXIT.ok;
      }
      await context.writeError(`${threadId} is not quarantined\n`);
      return EXIT.problem;
    });
  },
};
