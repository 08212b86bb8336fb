import { type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { type Profile, profileGiven } from '../policy/condition.ts';
import { type FirstOf, firstTimesGiven } from '../policy/first-times.ts';
import { totalsGiven, UsedLimits } from '../policy/limits.ts';
import { excludedInWords } from '../policy/policy.ts';
import type { Store } from '../store/port/store.ts';
import { ALL_TOOLS } from '../store/port/workspace.ts';
import { placeFor } from '../tools/callers.ts';
import { describeJudged, type JudgedCall, judgeCall } from '../tools/judge-call.ts';
import type { OpenToolbox } from '../tools/toolbox/open-toolbox.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from './shared/command.ts';
import { manifestFile } from './shared/load-manifest.ts';
import { withRecord } from './shared/open-record.ts';
import { unknownTool, withToolbox } from './shared/with-toolbox.ts';

const OPTIONS = {
  as: { type: 'string' },
  groups: { type: 'string' },
  email: { type: 'string' },
  name: { type: 'string' },
  first: { type: 'string' },
  used: { type: 'string' },
  channel: { type: 'string' },
  at: { type: 'string' },
  manifest: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Says what the rules of the manifest would do with a call. Nothing runs, and nobody is asked. */
export const explain: Command = {
  help: `Usage: countersign explain <tool> <arguments> --as <person> [--groups <ids>] [--email <address>]
                            [--name <name>] [--first <list>] [--used <json>] [--channel <id>]
                            [--at <time>] [--manifest <file>] [--json]

Says what the rules would do with a call: run it, ask for approval and whose, or deny it; which rule decides, what each
rule said, what its limits have left, which freeze holds, and how long people have. It asks the function that the gate of the bot asks.
Nothing runs, and nobody is asked. Modules are loaded and servers are connected to, as at a start. With REDIS_URL it reads what is used
of limits, first times and freezes; without it, and without --used, nothing is used.

  <arguments>        the arguments of the call, as JSON
  --as PERSON        the requester, such as U012ABCDEF; of a caller, caller:NAME
  --groups IDS       the user groups of the requester, separated by commas; without it nobody is known to be in one
  --email ADDRESS    the email address of the requester, for requester.email; without it nobody knows it
  --name NAME        the name of the requester, for requester.name; without it nobody knows it
  --first LIST       which of tool, target and pair are first times, separated by commas, or none (default: what Redis says)
  --used JSON        what is used of limits, by name: '{"refund_order": 45000}' (default: what Redis says)
  --channel ID       the channel (optional)
  --at TIME          the time of the call, such as 2026-11-16T09:30:00Z (default: now)
  --manifest FILE    the manifest (default: MANIFEST or manifest.yml)
  --json             print one JSON object

Exit code: 0 explained, 1 there is no such tool, or it would refuse the arguments, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 2 });
    const [tool, text] = positionals;
    if (tool === undefined || text === undefined) throw new UsageError('name the tool and its arguments');
    if (values.as === undefined) throw new UsageError('--as is missing: say who asks');
    const input = tryParseJson(text);
    if (input === undefined) throw new UsageError('the arguments are not JSON');
    const asked = {
      tool,
      input: toJson(input),
      as: values.as,
      channel: values.channel,
      now: readTime(values.at),
      groups: values.groups?.split(',').map((id) => id.trim()),
      profile: values,
      firstOf: readFirst(values.first),
      used: readUsed(values.used),
    };
    const { environment, write } = context;
    const hasRecord = asked.used === undefined && (environment.REDIS_URL ?? '') !== '';
    return withToolbox(manifestFile(environment, values.manifest), environment, async (toolbox) => {
      const explained = hasRecord
        ? await withRecord(context, ({ store }) => explainIn(toolbox, asked, store))
        : await explainIn(toolbox, asked);
      await write(values.json === true ? `${JSON.stringify(explained.report)}\n` : explained.words);
      return EXIT.ok;
    });
  },
};

/** A call to explain, as the command line gives it. */
interface AskedCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly as: string;
  readonly channel: string | undefined;
  readonly now: Date | undefined;
  readonly groups: readonly string[] | undefined;
  readonly profile: Profile;
  readonly firstOf: FirstOf | undefined;
  readonly used: UsedLimits | undefined;
}

/** Judges a call by a manifest, and by what the record says now, where there is one. */
async function explainIn(
  toolbox: OpenToolbox,
  { tool, input, as, channel, now, groups, profile, firstOf, used }: AskedCall,
  store?: Pick<Store, 'readTotals' | 'readFreezes'>,
): Promise<{ readonly report: JsonValue; readonly words: string }> {
  const { limits } = toolbox.manifest;
  const unknown = Object.keys(used ?? {}).find((name) => !limits.some((limit) => limit.name === name));
  if (unknown !== undefined) throw new Failure(`--used: there is no limit "${unknown}"`);
  const judged = await judgeCall(toolbox, {
    tool,
    input,
    now,
    contextAuthors: [],
    groupsOf: () => groups,
    profileOf: profileGiven(profile),
    ...placeFor(toolbox.callers(), [as], channel),
    // Totals that are given say nothing about first times.
    firstOf: firstOf ?? (store === undefined ? () => undefined : undefined),
    readTotals: store === undefined ? totalsGiven(limits, used) : (read) => store.readTotals(read),
  });
  if (judged === undefined) throw unknownTool(toolbox, tool);
  const fit = toolbox.find(tool)?.tool.inputSchema.parse(input);
  if (fit?.ok === false) {
    const field = fit.field === '' ? '' : `${fit.field}: `;
    throw new Failure(`the tool does not accept these arguments: ${field}${fit.problem}`);
  }
  const frozen = (await store?.readFreezes())?.freezes.find(({ scope }) =>
    [ALL_TOOLS, tool, as].includes(scope),
  );
  const said = toolbox
    .find(tool)
    ?.freezes.flatMap(({ name, holds }) =>
      holds.kind === 'while' ? [`"${name}" while ${holds.tool} says so`] : [],
    );
  const isAssumed = store === undefined && used === undefined && judged.isAllowed && judged.uses.length > 0;
  const lines = [
    ...(frozen === undefined ? [] : [`Frozen now${frozen.reason === '' ? '' : `: ${frozen.reason}`}`]),
    ...(said === undefined || said.length === 0 ? [] : [`Not looked at: ${said.join(', ')}.`]),
    ...(isAssumed ? ['Nothing is taken to be used before; set REDIS_URL, or say it with --used.'] : []),
  ];
  return {
    report: toReport(judged, frozen !== undefined),
    words: `${describeJudged(judged)}${lines.map((line) => `${line}\n`).join('')}`,
  };
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--at needs a time, but got "${text}"`);
  return time;
}

/** Reads which first times a call has; all three are known then. */
function readFirst(text: string | undefined): FirstOf | undefined {
  if (text === undefined) return undefined;
  const listed = text.split(',').map((word) => word.trim());
  const wrong = listed.find((word) => !['tool', 'target', 'pair', 'none'].includes(word));
  if (wrong !== undefined)
    throw new UsageError(`--first takes tool, target, pair or none, but got "${wrong}"`);
  return firstTimesGiven(listed);
}

/** Reads what is said to be used of limits. */
function readUsed(text: string | undefined): UsedLimits | undefined {
  if (text === undefined) return undefined;
  const { data } = UsedLimits.safeParse(tryParseJson(text));
  if (data === undefined) throw new UsageError('--used takes JSON such as {"refund_order": 45000}');
  return data;
}

function toReport({ explanation, policy, risk, uses, freeze }: JudgedCall, isFrozen: boolean): JsonValue {
  const { verdict, steps } = explanation;
  return toJson({
    ...verdict,
    ...(policy !== undefined && { groups: policy.groups, excluded: excludedInWords(policy), risk }),
    ...(policy?.delegation === true && { delegation: true }),
    ...((isFrozen || freeze !== undefined) && { frozen: freeze?.name ?? true }),
    limits: uses.map(({ limit, amount = null, used = null }) => ({
      name: limit.name,
      amount,
      used,
      max: limit.max,
    })),
    steps: steps.map(({ number, result }) => ({ number, result })),
  });
}
