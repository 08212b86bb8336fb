import { collectStats, type PolicyStats } from '../../bot/home/policy-stats.ts';
import { homeTexts } from '../../bot/texts/home.ts';
import type { Feedback } from '../../store/port/memory.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Prints the approval rate and the median time to a decision of each policy, and what people think of answers. */
export const stats: Command = {
  help: `Usage: countersign stats [--json]

Prints a line for each policy: how many requests were made under it, how many of the decided ones were approved, and the
median time from the request to the decision. A policy that is always approved within seconds may not be needed. Then a
line for each channel in which people rated answers, by the threads that are still kept; each person counts once per
answer. Reads the audit log; only REDIS_URL is needed.

  --json         print one JSON object per line
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const policies = await collectStats(store.exportAudit());
      if (policies.length === 0 && values.json !== true) await context.write(`${homeTexts.noStats}\n`);
      for (const policy of policies)
        await context.write(`${values.json === true ? JSON.stringify(policy) : formatStats(policy)}\n`);
      for (const rated of countFeedback(await store.listFeedback()))
        await context.write(`${values.json === true ? JSON.stringify(rated) : formatFeedback(rated)}\n`);
      return EXIT.ok;
    });
  },
};

/** The feedback on the answers in one channel. */
interface ChannelFeedback {
  readonly feedback: string;
  readonly good: number;
  readonly bad: number;
}

function countFeedback(all: readonly Feedback[]): ChannelFeedback[] {
  const channels = new Map<string, { good: number; bad: number }>();
  for (const { threadId, verdict } of all) {
    const [channel = ''] = threadId.split(':');
    const counts = channels.get(channel) ?? { good: 0, bad: 0 };
    counts[verdict] += 1;
    channels.set(channel, counts);
  }
  return [...channels].sort().map(([feedback, counts]) => ({ feedback, ...counts }));
}

function formatFeedback({ feedback, good, bad }: ChannelFeedback): string {
  return `feedback in ${feedback}  ${good} good, ${bad} bad`;
}

function formatStats(stats: PolicyStats): string {
  return `${stats.policy}  ${homeTexts.statsLine(stats)}`;
}
