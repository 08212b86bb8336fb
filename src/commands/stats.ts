import { collectStats, type PolicyStats } from '../bot/home/policy-stats.ts';
import { homeTexts } from '../bot/texts/home.ts';
import { type Command, EXIT } from './shared/command.ts';
import { withRecord } from './shared/open-record.ts';
import { readOptions } from './shared/options.ts';

/** Prints the approval rate and the median time to a decision of each policy. */
export const stats: Command = {
  help: `Usage: countersign stats [--json]

Prints a line for each policy: how many requests were made under it, how many of the decided ones were approved, and the
median time from the request to the decision. A policy that is always approved within seconds may not be needed. Reads
the audit log; only REDIS_URL is needed.

  --json         print one JSON object per line
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const policies = await collectStats(store.exportAudit());
      if (policies.length === 0 && values.json !== true) await context.write(`${homeTexts.noStats}\n`);
      for (const policy of policies)
        await context.write(`${values.json === true ? JSON.stringify(policy) : formatStats(policy)}\n`);
      return EXIT.ok;
    });
  },
};

function formatStats(stats: PolicyStats): string {
  return `${stats.policy}  ${homeTexts.statsLine(stats)}`;
}
