import { z } from 'zod';
import { collectStats } from '../../bot/inbox/policy-stats.ts';
import { type DecisionStats, homeTexts } from '../../bot/views/texts/home.ts';
import { showLine } from '../../bot/views/texts/show-text.ts';
import { type Feedback, feedbackIn } from '../../store/documents/feedback.ts';
import type { UsageRow } from '../../store/port/workspace.ts';
import { type Command, EXIT, formatTable, readOptions, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';

/** Prints the approval rate and the median time to a decision of each policy and caller, and what people think of answers. */
export const stats: Command = {
  help: `Usage: countersign stats [--json]

Prints a line for each policy: how many requests were made under it, how many of the decided ones were approved, and the
median time from the request to the decision. A policy that is always approved within seconds may not be needed. Then the
same for what each caller asked for, and a line for each channel in which people rated answers, by the threads that are
still kept; each person counts once per answer. Reads the audit log; only REDIS_URL is needed.

  --json         print one JSON object per line

Exit code: 0 also if there is nothing to count, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const decided = await collectStats(store.exportAudit());
      if (decided.length === 0 && values.json !== true) await context.write(`${homeTexts.noStats}\n`);
      for (const each of decided)
        await context.write(`${values.json === true ? JSON.stringify(each) : formatStats(each)}\n`);
      for (const rated of countFeedback(await feedbackIn(store).list()))
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

function formatStats(stats: DecisionStats): string {
  return `${homeTexts.statsName(stats)}  ${homeTexts.statsLine(stats)}`;
}

const GROUPS = ['day', 'person', 'channel', 'model'] as const;
type Group = (typeof GROUPS)[number];
const COUNTS = ['calls', 'inputTokens', 'cachedTokens', 'outputTokens', 'reasoningTokens'] as const;
const Days = z.coerce.number().int().min(1).max(190);
const DEFAULT_DAYS = '30';

/** Lists the tokens that were spent. */
export const usage: Command = {
  help: `Usage: countersign usage [--days N] [--by day,person,channel,model] [--json]

Prints the tokens that the models were sent and have written: a line for each day, person, channel and model, or for what
--by names. Cached tokens are a part of the input, reasoning tokens a part of the output. Only REDIS_URL is needed.

  --days N       the last N days in UTC, today included (default: ${DEFAULT_DAYS})
  --by LIST      what to add up by (default: day,person,channel,model)
  --json         print one JSON object per line

Exit code: 0 also if nothing was spent, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, {
      days: { type: 'string' },
      by: { type: 'string' },
      json: { type: 'boolean' },
    });
    const days = Days.safeParse(values.days ?? DEFAULT_DAYS);
    if (!days.success) throw new UsageError(`--days takes a number from 1 to 190, not "${values.days}"`);
    const groups = readGroups(values.by);
    return withRecord(context, async ({ store }) => {
      const rows = addUp(await store.listUsage(days.data), groups);
      const lines = values.json ? rows.map((row) => JSON.stringify(row)) : toTable(rows, groups);
      for (const line of lines) await context.write(`${line}\n`);
      return EXIT.ok;
    });
  },
};

type Sum = Pick<UsageRow, (typeof COUNTS)[number]> & Partial<Pick<UsageRow, Group>>;

function readGroups(by: string | undefined): readonly Group[] {
  if (by === undefined) return GROUPS;
  const named = by.split(',').map((name) => name.trim());
  const unknown = named.find((name) => !GROUPS.some((group) => group === name));
  if (unknown !== undefined)
    throw new UsageError(`--by takes day, person, channel and model, not "${unknown}"`);
  return GROUPS.filter((group) => named.includes(group));
}

/** Adds up the rows that agree in the groups, in the order in which they first appear. */
function addUp(rows: readonly UsageRow[], groups: readonly Group[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const named = Object.fromEntries(groups.map((group) => [group, row[group]]));
    const key = JSON.stringify(named);
    const before = sums.get(key);
    const counts = COUNTS.map((count) => [count, row[count] + (before?.[count] ?? 0)] as const);
    sums.set(key, { ...named, ...toCounts(counts) });
  }
  return [...sums.values()];
}

function toCounts(entries: readonly (readonly [(typeof COUNTS)[number], number])[]): Sum {
  const zero = { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  return { ...zero, ...Object.fromEntries(entries) };
}

const HEADINGS: Readonly<Record<Group | (typeof COUNTS)[number], string>> = {
  day: 'day',
  person: 'person',
  channel: 'channel',
  model: 'model',
  calls: 'calls',
  inputTokens: 'input',
  cachedTokens: 'cached',
  outputTokens: 'output',
  reasoningTokens: 'reasoning',
};

function toTable(rows: readonly Sum[], groups: readonly Group[]): string[] {
  if (rows.length === 0) return ['No tokens were spent.'];
  const columns = [...groups, ...COUNTS];
  const cells = [
    columns.map((column) => HEADINGS[column]),
    ...rows.map((row) => columns.map((column) => showLine(String(row[column] ?? '')))),
  ];
  return formatTable(
    cells,
    COUNTS.map((_, index) => groups.length + index),
  );
}
