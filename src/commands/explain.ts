import { type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import type { RuleStep } from '../tools/gate/approval-rules.ts';
import { conditionInWords } from '../tools/gate/condition-words.ts';
import type { Policy } from '../tools/gate/policy.ts';
import type { Explanation } from '../tools/gate/strictest.ts';
import { type Command, EXIT, UsageError } from './shared/command.ts';
import { type JudgedCall, judgeCall, unknownTool, withToolbox } from './shared/judge-call.ts';
import { manifestFile } from './shared/load-manifest.ts';
import { readOptions } from './shared/options.ts';

const OPTIONS = {
  as: { type: 'string' },
  channel: { type: 'string' },
  at: { type: 'string' },
  manifest: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Says what the rules of the manifest would do with a call. Nothing runs, and nobody is asked. */
export const explain: Command = {
  help: `Usage: countersign explain <tool> <arguments> --as <person> [--channel <id>] [--at <time>] [--manifest <file>] [--json]

Says what the rules would do with a call: run it, ask for approval and whose, or deny it; which rule decides, and what each
rule said. Nothing runs, and nobody is asked. Modules are loaded and servers are connected to, as at a start.

  <arguments>        the arguments of the call, as JSON
  --as PERSON        the requester, such as U012ABCDEF
  --channel ID       the channel (optional)
  --at TIME          the time of the call, such as 2026-11-16T09:30:00Z (default: now)
  --manifest FILE    the manifest (default: MANIFEST or manifest.yml)
  --json             print one JSON object

Exit code: 0 explained, 1 there is no such tool, 2 wrong usage.
`,
  async run(args, { environment, write }) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 2 });
    const [name, text] = positionals;
    if (name === undefined || text === undefined) throw new UsageError('name the tool and its arguments');
    if (values.as === undefined) throw new UsageError('--as is missing: say who asks');
    const input = tryParseJson(text);
    if (input === undefined) throw new UsageError('the arguments are not JSON');
    const now = readTime(values.at);
    const place = { requesters: [values.as], contextAuthors: [], channel: values.channel ?? '' };
    return withToolbox(manifestFile(environment, values.manifest), environment, async (toolbox) => {
      const judged = judgeCall(toolbox, { tool: name, input: toJson(input), now, ...place });
      if (judged === undefined) throw unknownTool(toolbox, name);
      await write(values.json === true ? `${JSON.stringify(toReport(judged))}\n` : describe(judged));
      return EXIT.ok;
    });
  },
};

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--at needs a time, but got "${text}"`);
  return time;
}

function toReport({ explanation, isAllowed, policy, risk }: JudgedCall): JsonValue {
  const { verdict, steps } = explanation;
  return toJson({
    ...(isAllowed ? verdict : { outcome: 'deny', rule: 'allow', reason: NOT_ALLOWED }),
    ...(policy !== undefined && { groups: policy.groups, excluded: policy.excluded, risk }),
    ...(policy?.delegation === true && { delegation: true }),
    steps: steps.map(({ number, result }) => ({ number, result })),
  });
}

export const NOT_ALLOWED = '"allow" does not name this person or this channel';

function describe({ explanation, isAllowed, policy, risk }: JudgedCall): string {
  if (!isAllowed) return `Denied: ${NOT_ALLOWED}.\n`;
  return `${[...describeVerdict(explanation, policy, risk), ...describeRules(explanation)].join('\n')}\n`;
}

/** Says which rule decides, and what each of the others said; a line each. */
export function describeRules({ verdict, steps }: Explanation): string[] {
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
  { verdict }: Explanation,
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
        ...policy.groups.map(({ any, from, quorum }) => {
          const people = [...any, ...(from === undefined ? [] : [`the person of ${from}`])];
          return `  ${quorum} of ${people.join(', ')}`;
        }),
        ...(policy.excluded.length > 0 ? [`  not ${policy.excluded.join(', ')}`] : []),
        ...(policy.delegation === true ? ['  approvers may let others decide for them'] : []),
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
