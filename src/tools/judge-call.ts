import type { JsonValue } from '../agent/json.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import { conditionInWords } from '../policy/condition.ts';
import { countersOfDone, firstOfFacts, readFirstTimes, withoutTarget } from '../policy/first-times.ts';
import { freezeAt, freezeInWords, type HoldingFreeze } from '../policy/freezes.ts';
import { type CallUse, isOverLimit, type ReadTotals, usesOf } from '../policy/limits.ts';
import {
  excludedInWords,
  findPolicy,
  type Policy,
  policiesNamed,
  type RiskLevel,
  riskOf,
  sourceInWords,
} from '../policy/policy.ts';
import { type Explanation, NEEDED_RULE, type RuleStep } from '../policy/rules.ts';
import type { CallPlace } from './gate.ts';
import type { NotAllowed, Toolbox } from './toolbox/toolbox.ts';

/** A call as the rules see it; without `now` it is made at this moment, and without `readTotals` limits are left out. */
export interface CallToJudge extends CallPlace {
  readonly tool: string;
  readonly input: JsonValue;
  readonly now?: Date | undefined;
  /** Freezes that a tool has to say and that are taken to hold, by their names. */
  readonly frozen?: readonly string[] | undefined;
  readonly readTotals?: ReadTotals | undefined;
}

/** The verdict on a call. */
export interface JudgedCall {
  readonly explanation: Pick<Explanation, 'verdict' | 'steps'>;
  /** The freeze of the manifest that holds then. */
  readonly freeze: HoldingFreeze | undefined;
  /** Whether `allow` lets everyone of the call use the tool there; otherwise the verdict says so, and no rule was asked. */
  readonly isAllowed: boolean;
  /** Amounts that the call counts against limits, each with what is used before it, if that is known. */
  readonly uses: readonly (CallUse & { readonly used: number | undefined })[];
  /** The same of the call once people have approved it. */
  readonly approvedUses: readonly CallUse[];
  /** The counters of first times that the call counts once it has succeeded. */
  readonly done: readonly { readonly key: string }[];
  /** The policy that is asked, if one is and the manifest has it; of several at once, all of them joined. */
  readonly policy: Policy | undefined;
  /** The policies that are joined in it. */
  readonly joined: readonly Policy[];
  readonly risk: RiskLevel | undefined;
}

/** Judges a call as the gate does, with the defaults of its input filled in. Nothing runs. An unknown tool is `undefined`. */
export async function judgeCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  { tool, input: written, now = new Date(), frozen = [], readTotals, ...where }: CallToJudge,
): Promise<JudgedCall | undefined> {
  const entry = toolbox.find(tool);
  if (entry === undefined) return undefined;
  const input = effectiveInput(entry.tool.inputSchema, written);
  const { limits, reversible, firstDays, freezes } = entry;
  const target = entry.presentation.targetOf(input);
  const done =
    firstDays === undefined ? [] : countersOfDone({ tool, target, people: where.requesters }, firstDays);
  const people = [...where.requesters, ...where.contextAuthors];
  const read =
    readTotals === undefined || firstDays === undefined
      ? undefined
      : await readFirstTimes({ tool, target, people }, firstDays, readTotals);
  const given = where.firstOf && target === undefined ? withoutTarget(where.firstOf) : where.firstOf;
  const place = { ...where, firstOf: given ?? firstOfFacts(read) };
  const call = { tool, input, now, reversible, ...place };
  const refused = entry.notAllowed(place);
  const policyOf = (name: string) => toolbox.policy(name);
  const judged =
    refused === undefined
      ? await entry.explain({ input, now, ...place }, readTotals)
      : ({
          verdict: { outcome: 'deny', rule: 'allow', reason: notAllowedInWords(refused) },
          steps: [],
        } satisfies JudgedCall['explanation']);
  const freeze = freezeAt(freezes, now.getTime()) ?? freezes.find(({ name }) => frozen.includes(name));
  // What is approved waits for the end of a freeze; nothing else starts.
  const isStopped = freeze !== undefined && judged.verdict.outcome === 'run';
  const explanation: JudgedCall['explanation'] = isStopped
    ? {
        ...judged,
        verdict: { outcome: 'deny', rule: `freeze: ${freeze.name}`, reason: freezeInWords(freeze) },
      }
    : judged;
  const { verdict } = explanation;
  const policy = verdict.outcome === 'ask' ? findPolicy(policyOf, verdict.policy) : undefined;
  const joined =
    policy === undefined ? [] : policiesNamed(policy.name).flatMap((name) => policyOf(name) ?? []);
  const risk = policy && riskOf(policy.risk, { ...call, timeZone: policy.timeZone });
  const uses = ('uses' in judged ? judged.uses : undefined) ?? usesOf(limits, call);
  const totals = await readTotals?.(uses.map(({ key, limit }) => ({ key, windowMs: limit.windowMs })));
  return {
    explanation,
    isAllowed: refused === undefined,
    freeze,
    done,
    policy,
    joined,
    risk,
    approvedUses: usesOf(limits, { ...call, approved: true }),
    uses: uses.map((use, index) => ({ ...use, used: totals?.[index]?.sum })),
  };
}

/** Says in words for admins why a tool may not be used. */
export function notAllowedInWords(refused: NotAllowed): string {
  switch (refused.why) {
    case 'channel':
      return `"allow" does not name the channel ${refused.channel || 'of the call, which is not given'}`;
    case 'not-in-channel':
      return `the "tools" of the channel ${refused.channel} do not name this tool`;
    case 'caller':
      return `the caller ${refused.caller} may not use this tool: its "tools" do not name it`;
    case 'no-caller':
      return `there is no caller "${refused.caller}" in the manifest`;
    case 'person':
      return `"allow" names neither ${refused.person} nor a user group of theirs`;
    case 'groups-unknown':
      return `"allow" asks for user groups, and those of ${refused.person} are not known`;
  }
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
export function describeJudged(judged: JudgedCall): string {
  const { explanation, isAllowed, freeze, uses } = judged;
  const { verdict } = explanation;
  if (!isAllowed && verdict.outcome === 'deny') return `Denied: ${verdict.reason}.\n`;
  const lines = [
    ...describeVerdict(judged),
    ...describeSeveral(judged),
    ...describeRules(explanation),
    ...uses.map(describeUse),
    ...(freeze === undefined
      ? []
      : [`Frozen: ${freezeInWords(freeze)}. Approvals count, and what is approved starts after it.`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Says what a call counts against a limit, and what is used of it. */
function describeUse({ limit, amount, used }: JudgedCall['uses'][number]): string {
  const counted = amount === undefined ? 'an amount that cannot be told, so it is over the limit' : amount;
  const before = used === undefined ? '' : `, ${used} used before`;
  const isOver = amount === undefined || (used ?? 0) + amount > limit.max;
  const beyond = limit.policy === undefined ? 'denied' : `asked by policy "${limit.policy}"`;
  const end = isOver ? `it is over, and ${beyond}` : `what is over it is ${beyond}`;
  return `Limit ${limit.name}: counts ${counted} of ${limit.max} per ${limit.per} in ${limit.calendar === undefined ? durationInWords(limit.windowMs) : `a ${limit.calendar.unit} of ${limit.calendar.timeZone}`}${before}; ${end}.`;
}

/** Says which of several policies that are asked at once a time is from. */
function describeSeveral({ policy, joined }: JudgedCall): string[] {
  if (policy === undefined || joined.length < 2) return [];
  const shortest = joined.find(({ expiresMs }) => expiresMs === policy.expiresMs);
  return [
    `  all of ${joined.map(({ name }) => `"${name}"`).join(' and ')} must approve, and nobody counts twice; the shortest expiry counts, that of "${shortest?.name}"`,
  ];
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
  // A limit and the tool itself add to what the rules say.
  const beside = isOverLimit(verdict)
    ? [`The call is over a ${verdict.rule}.`]
    : verdict.rule === NEEDED_RULE
      ? ['The tool itself asks for approval.']
      : [];
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
  return [...beside, why, ...others];
}

function decidingRule(steps: readonly RuleStep[]): number | undefined {
  return steps.find(({ result }) => ['no-condition', 'true', 'not-evaluated'].includes(result))?.number;
}

function describeVerdict({ explanation: { verdict }, policy, risk }: JudgedCall): string[] {
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
        ...[excludedInWords(policy)].flatMap((not) => (not.length > 0 ? [`  not ${not.join(', ')}`] : [])),
        ...(policy.delegation === true ? ['  approvers may let others decide for them'] : []),
        ...describeTimes(policy),
      ];
    }
  }
}

function describeStep({ rule, result, error }: RuleStep): string {
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
      return `it could not be checked whether ${words}${error === undefined ? '' : `, since ${error}`}`;
    case 'other-tool':
      return `only for tools like ${match}`;
    case 'not-asked':
      return 'not reached';
  }
}
