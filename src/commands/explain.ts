import { type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { conditionInWords } from '../policy/condition.ts';
import { type FirstOf, firstTimesGiven } from '../policy/first-times.ts';
import type { Policy } from '../policy/policy.ts';
import type { RuleStep } from '../policy/rules.ts';
import { callerNamed } from '../tools/callers.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from './shared/command.ts';
import {
  type CallToJudge,
  groupInWords,
  type JudgedCall,
  judgeCall,
  NOT_ALLOWED,
  unknownTool,
  withToolbox,
} from './shared/judge-call.ts';
import { manifestFile } from './shared/load-manifest.ts';

const OPTIONS = {
  as: { type: 'string' },
  groups: { type: 'string' },
  first: { type: 'string' },
  channel: { type: 'string' },
  at: { type: 'string' },
  manifest: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Says what the rules of the manifest would do with a call. Nothing runs, and nobody is asked. */
export const explain: Command = {
  help: `Usage: countersign explain <tool> <arguments> --as <person> [--groups <ids>] [--first <list>] [--channel <id>]
                            [--at <time>] [--manifest <file>] [--json]

Says what the rules would do with a call: run it, ask for approval and whose, or deny it; which rule decides, what each
rule said, which limits count it, and how long people have. Nothing runs, and nobody is asked. Modules are loaded and servers are connected to, as at a start.

  <arguments>        the arguments of the call, as JSON
  --as PERSON        the requester, such as U012ABCDEF; of a caller, caller:NAME
  --groups IDS       the user groups of the requester, separated by commas; without it nobody is known to be in one
  --first LIST       which of tool, target and pair are first times, separated by commas, or none; without it nobody knows
  --channel ID       the channel (optional)
  --at TIME          the time of the call, such as 2026-11-16T09:30:00Z (default: now)
  --manifest FILE    the manifest (default: MANIFEST or manifest.yml)
  --json             print one JSON object

Exit code: 0 explained, 1 there is no such tool, or it would refuse the arguments, 2 wrong usage.
`,
  async run(args, { environment, write }) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 2 });
    const [name, text] = positionals;
    if (name === undefined || text === undefined) throw new UsageError('name the tool and its arguments');
    if (values.as === undefined) throw new UsageError('--as is missing: say who asks');
    const input = tryParseJson(text);
    if (input === undefined) throw new UsageError('the arguments are not JSON');
    const now = readTime(values.at);
    const groups = values.groups?.split(',').map((id) => id.trim());
    const { as, channel } = values;
    const beside = { contextAuthors: [], groupsOf: () => groups, firstOf: readFirst(values.first) };
    return withToolbox(manifestFile(environment, values.manifest), environment, async (toolbox) => {
      const caller = toolbox.callers().get(callerNamed(as) ?? '');
      const requesters = caller === undefined ? [as] : [caller.owner, as];
      const place = { ...beside, requesters, channel: channel ?? caller?.channel ?? '' };
      const judged = await judgeCall(toolbox, { tool: name, input: toJson(input), now, ...place });
      if (judged === undefined) throw unknownTool(toolbox, name);
      const fit = toolbox.find(name)?.tool.inputSchema.parse(toJson(input));
      if (fit?.ok === false) {
        const field = fit.field === '' ? '' : `${fit.field}: `;
        throw new Failure(`the tool does not accept these arguments: ${field}${fit.problem}`);
      }
      await write(values.json === true ? `${JSON.stringify(toReport(judged))}\n` : describe(judged));
      return EXIT.ok;
    });
  },
};

/** Says in lines what the rules of the tools that are open now would do with a call; of a tool that is not there, that. */
export async function explainCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  call: CallToJudge,
): Promise<readonly string[]> {
  const judged = await judgeCall(toolbox, call);
  if (judged === undefined) return [`There is no tool "${call.tool}".`];
  return describe(judged).trimEnd().split('\n');
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

function toReport({ explanation, policy, risk }: JudgedCall): JsonValue {
  const { verdict, steps } = explanation;
  return toJson({
    ...verdict,
    ...(policy !== undefined && { groups: policy.groups, excluded: policy.excluded, risk }),
    ...(policy?.delegation === true && { delegation: true }),
    steps: steps.map(({ number, result }) => ({ number, result })),
  });
}

function describe({ explanation, isAllowed, policy, risk, uses }: JudgedCall): string {
  if (!isAllowed) return `Denied: ${NOT_ALLOWED}.\n`;
  const lines = [
    ...describeVerdict(explanation, policy, risk),
    ...describeRules(explanation),
    ...uses.map(describeUse),
  ];
  return `${lines.join('\n')}\n`;
}

/** Says what a call counts against a limit; what was spent before is known to the running bot only. */
function describeUse({ limit, amount }: JudgedCall['uses'][number]): string {
  const counted = amount === undefined ? 'an amount that cannot be told, so it is over the limit' : amount;
  const beyond = limit.policy === undefined ? 'denied' : `asked by policy "${limit.policy}"`;
  return `Limit ${limit.name}: counts ${counted} of ${limit.max} per ${limit.per} in ${durationInWords(limit.windowMs)}; what is over it is ${beyond}.`;
}

/** Says how long people have, and what else the policy does. */
function describeTimes({
  expiresMs,
  remindMs,
  escalate,
  grants,
  quietHours,
  startWithinMs,
}: Policy): string[] {
  const lines = [
    `expires after ${durationInWords(expiresMs)}, and starts within ${durationInWords(startWithinMs)} of the approval`,
    remindMs && `reminds every ${durationInWords(remindMs)}`,
    escalate && `asks ${escalate.to.join(', ')} as well after ${durationInWords(escalate.afterMs)}`,
    grants &&
      `may be pre-approved for ${durationInWords(grants.forMs)} and ${grants.uses} further calls${grants.when === undefined ? ' with the same arguments' : ` if ${conditionInWords(grants.when)}`}`,
    quietHours &&
      `no direct messages from ${timeOfDay(quietHours.from)} to ${timeOfDay(quietHours.to)} (${quietHours.timeZone})`,
  ];
  return lines.flatMap((line) => (typeof line === 'string' ? [`  ${line}`] : []));
}

function timeOfDay(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Writes a duration as the manifest does: 30s, 15m, 4h, 2d. */
function durationInWords(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const;
  const [unit, size] = units.find(([, each]) => ms % each === 0) ?? ['s', 1000];
  return `${ms / size}${unit}`;
}

/** Says which rule decides, and what each of the others said; a line each. */
export function describeRules({ verdict, steps }: JudgedCall['explanation']): string[] {
  const decided = steps.find(({ number }) => number === decidingRule(steps));
  const why =
    decided === undefined
      ? verdict.outcome === 'run'
        ? 'No rule decides: every condition is false.'
        : 'No rule is for this call, so the default policy is needed.'
      : `Rule ${decided.number} of ${steps.length} decides: ${describeStep(decided)}.`;
  const others = steps
    .filter((step) => step !== decided)
    .map((step) => `  rule ${step.number}: ${describeStep(step)}`);
  return [why, ...others];
}

function decidingRule(steps: readonly RuleStep[]): number | undefined {
  return steps.find(({ result }) => ['no-condition', 'true', 'not-evaluated'].includes(result))?.number;
}

function describeVerdict(
  { verdict }: JudgedCall['explanation'],
  policy: Policy | undefined,
  risk: string | undefined,
): string[] {
  switch (verdict.outcome) {
    case 'run':
      return ['Runs without approval.'];
    case 'deny':
      return [`Denied: ${verdict.reason}`];
    case 'ask': {
      if (policy === undefined) return [`Nobody can approve this: there is no policy "${verdict.policy}".`];
      return [
        `Needs approval by policy "${policy.name}" (risk ${risk}):`,
        ...policy.groups.map((group) => `  ${groupInWords(group)}`),
        ...(policy.excluded.length > 0 ? [`  not ${policy.excluded.join(', ')}`] : []),
        ...(policy.delegation === true ? ['  approvers may let others decide for them'] : []),
        ...describeTimes(policy),
      ];
    }
  }
}

function describeStep({ rule, result }: RuleStep): string {
  const { match, when } = rule;
  const words = when === undefined ? '' : conditionInWords(when);
  switch (result) {
    case 'no-condition':
      return 'it has no condition';
    case 'true':
      return `${words}`;
    case 'false':
      return `not true that ${words}`;
    case 'not-evaluated':
      return `it could not be checked whether ${words}`;
    case 'other-tool':
      return `only for tools like ${match}`;
    case 'not-asked':
      return 'not reached';
  }
}
