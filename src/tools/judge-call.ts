import type { JsonValue } from '../agent/json.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import { conditionInWords } from '../policy/condition.ts';
import { countersOfDone, firstOfFacts, readFirstTimes } from '../policy/first-times.ts';
import { type CallUse, judgeWithLimits, type ReadTotals, usesOf } from '../policy/limits.ts';
import { type Policy, type RiskLevel, riskOf, sourceInWords } from '../policy/policy.ts';
import type { Explanation, RuleStep } from '../policy/rules.ts';
import type { CallPlace } from './gate.ts';
import type { Toolbox } from './toolbox/toolbox.ts';

export const NOT_ALLOWED = '"allow" does not name this person or this channel';

/** A call as the rules see it; without `now` it is made at this moment, and without `readTotals` limits are left out. */
export interface CallToJudge extends CallPlace {
  readonly tool: string;
  readonly input: JsonValue;
  readonly now?: Date | undefined;
  readonly readTotals?: ReadTotals | undefined;
}

/** The verdict on a call. */
export interface JudgedCall {
  readonly explanation: Pick<Explanation, 'verdict' | 'steps'>;
  /** Whether `allow` lets everyone of the call use the tool there; otherwise the verdict says so, and no rule was asked. */
  readonly isAllowed: boolean;
  /** Amounts that the call counts against limits. */
  readonly uses: readonly CallUse[];
  /** The counters of first times that the call counts once it has succeeded. */
  readonly done: readonly { readonly key: string }[];
  /** The policy that is asked, if one is and the manifest has it. */
  readonly policy: Policy | undefined;
  readonly risk: RiskLevel | undefined;
}

/** Judges a call as the gate does, with the defaults of its input filled in. Nothing runs. An unknown tool is `undefined`. */
export async function judgeCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  { tool, input: given, now = new Date(), readTotals, ...where }: CallToJudge,
): Promise<JudgedCall | undefined> {
  const entry = toolbox.find(tool);
  if (entry === undefined) return undefined;
  const input = effectiveInput(entry.tool.inputSchema, given);
  const { limits, reversible, firstDays } = entry;
  const target = entry.presentation.targetOf(input);
  const done =
    firstDays === undefined ? [] : countersOfDone({ tool, target, people: where.requesters }, firstDays);
  const people = [...where.requesters, ...where.contextAuthors];
  const read =
    readTotals === undefined || firstDays === undefined
      ? undefined
      : await readFirstTimes({ tool, target, people }, firstDays, readTotals);
  const place = { ...where, firstOf: where.firstOf ?? firstOfFacts(read) };
  const call = { tool, input, now, reversible, ...place };
  const isAllowed = entry.allows(place);
  const policyOf = (name: string) => toolbox.policy(name);
  const explanation: JudgedCall['explanation'] = isAllowed
    ? await judgeWithLimits({ limits, call, readTotals, policyOf }, (totals) =>
        entry.explain(input, place, now, totals),
      )
    : { verdict: { outcome: 'deny', rule: 'allow', reason: NOT_ALLOWED }, steps: [] };
  const { verdict } = explanation;
  const policy = verdict.outcome === 'ask' ? policyOf(verdict.policy) : undefined;
  const risk = policy && riskOf(policy.risk, { ...call, timeZone: policy.timeZone });
  return { explanation, isAllowed, uses: usesOf(limits, call), done, policy, risk };
}

/** Names the people of a group with its quorum. */
export function groupInWords({
  any,
  from,
  quorum,
}: Pick<Policy['groups'][number], 'any' | 'quorum'> &
  Partial<Pick<Policy['groups'][number], 'from'>>): string {
  return `${quorum} of ${[...any, ...(from === undefined ? [] : [sourceInWords(from)])].join(', ')}`;
}

/** Says in lines what the rules of the tools that are open now would do with a call; of a tool that is not there, that. */
export async function explainCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  call: CallToJudge,
): Promise<readonly string[]> {
  const judged = await judgeCall(toolbox, call);
  if (judged === undefined) return [`There is no tool "${call.tool}".`];
  return describeJudged(judged).trimEnd().split('\n');
}

/** Says in lines what the rules do with a call. */
export function describeJudged({ explanation, isAllowed, policy, risk, uses }: JudgedCall): string {
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
