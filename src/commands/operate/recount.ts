import { threadOf } from '../../store/record/keys.ts';
import { scanKeys } from '../../store/redis/verbs/scan-keys.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Counts what is on record for the metrics, as an upgrade from a version without metrics needs it once. */
export const recount: Command = {
  help: `Usage: countersign recount

Counts the requests and quarantined threads on record anew, for the gauges at /metrics. Run it once after an upgrade
from a version without metrics. It can run beside bots, and running it again changes nothing. Only REDIS_URL is needed.

Exit code: 0 counted, 1 Redis failed, 2 wrong usage.
`,
  async run(args, context) {
    readOptions(args, {});
    return withRecord(context, async ({ store, client, prefix }) => {
      let [threads, requests] = [0, 0];
      for await (const { kind, id } of scanKeys(client, prefix)) {
        if (kind === 'thread') {
          await store.recount(id);
          threads += 1;
        }
        const threadId = kind === 'request' ? threadOf(id) : undefined;
        if (threadId === undefined) continue;
        await store.recount(threadId, id);
        requests += 1;
      }
      await context.write(`counted (threads: ${threads}, requests: ${requests})\n`);
      return EXIT.ok;
    });
  },
};
