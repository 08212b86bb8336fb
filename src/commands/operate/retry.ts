import { userInfo } from 'node:os';
import { type Command, EXIT } from '../shared/command.ts';
import { UsageError } from '../shared/errors.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Lets the bot continue a quarantined thread. */
export const retry: Command = {
  help: `Usage: countersign retry <thread>

Releases a quarantined thread ("countersign threads" lists them), so that the bot continues it. If it fails again, it is
quarantined again. The release goes into the audit log. Only REDIS_URL is needed.

Exit code: 0 released, 1 the thread is not quarantined, 2 wrong usage.
`,
  async run(args, context) {
    const [threadId] = readOptions(args, {}, { positionals: 1 }).positionals;
    if (threadId === undefined) throw new UsageError('name the thread');
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
