import type { JsonValue } from '../agent/json.ts';
import { re2Pattern } from '../agent/util/pattern.ts';
import { type ConditionInput, compileCondition, type JudgedCall } from './condition.ts';
import { allPolicies, DEFAULT_POLICY_NAME, type PolicyOf, policiesNamed, strictestPolicy } from './policy.ts';

/** One approval rule of the manifest; a rule without `match` is for every tool of its entry. */
export interface ApprovalRule {
  readonly match?: string | undefined;
  readonly require?: 'never' | 'always' | 'deny' | undefined;
  readonly when?: string | undefined;
  readonly policy?: string | undefined;
  /** Tells the model and the requester why a call is denied. */
  readonly reason?: string | undefined;
  /** Tells approvers in words why they are asked. */
  readonly because?: string | undefined;
}

/** Tells whether a call runs, needs approval and by which policy, or is denied and why; and which rule decided. */
export type ApprovalVerdict =
  | { readonly outcome: 'run'; readonly rule: string }
  | {
      readonly outcome: 'ask';
      readonly rule: string;
      /** The name of the policy, or of several that must all be satisfied. */
      readonly policy: string;
      /** Set where the call is over a limit, so that no grant allows it. */
      readonly overLimit?: true;
      /** The words of the rule for approvers. */
      readonly because?: string | undefined;
    }
  | { readonly outcome: 'deny'; readonly rule: string; readonly reason: string };

/** The verdict of one rule on a call: its condition is true or false, or could not be evaluated; a rule after the deciding one is not asked. */
export interface RuleStep {
  /** Its number in the list, from 1. */
  readonly number: number;
  readonly rule: ApprovalRule;
  readonly result: 'no-condition' | 'true' | 'false' | 'not-evaluated' | 'other-tool' | 'not-asked';
  /** Why its condition could not be evaluated. */
  readonly error?: string;
}

/** The verdict on a call, with what each rule said of it. */
interface JudgedRules {
  readonly verdict: ApprovalVerdict;
  readonly steps: readonly RuleStep[];
}

export type ApprovalRules = (call: ConditionInput) => JudgedRules;

/** Stands in place of a rule where none decides. */
export const UNDECIDED_RULE = 'no rule decides this call';
const NO_REASON = 'A rule does not allow this call';

/** Returns the time zone of a policy, for the `now` of the rules that name it. */
export type TimeZoneOf = (policy: string) => string | undefined;

/**
 * Compiles the rules of a tool. The first rule that applies decides: a rule without `when` applies to every call, one with `when` to
 * the calls of which it is true. A list that ends without a decision asks under the default policy. A condition that cannot be evaluated
 * only adds: its rule denies if it would, its policy is asked beside what the rules after it ask, and the call never runs unapproved.
 */
export function compileApprovalRules(
  rules: readonly ApprovalRule[],
  timeZoneOf: TimeZoneOf = () => undefined,
): ApprovalRules {
  const compiled = rules.map((rule, index) => ({
    rule,
    number: index + 1,
    condition: rule.when === undefined ? undefined : compileCondition(rule.when),
  }));
  return (call) => {
    const steps: RuleStep[] = [];
    const doubts: ApprovalVerdict[] = [];
    let decided: ApprovalVerdict | undefined;
    for (const { rule, number, condition } of compiled) {
      const { policy = DEFAULT_POLICY_NAME } = rule;
      const add = (result: RuleStep['result'], error = {}) => steps.push({ number, rule, result, ...error });
      if (decided !== undefined) add('not-asked');
      else if (!isFor(rule, call.tool)) add('other-tool');
      else if (condition === undefined) {
        add('no-condition');
        decided = verdictOf(rule);
      } else {
        const result = condition({ ...call, timeZone: timeZoneOf(policy) });
        if (typeof result === 'boolean') add(`${result}`);
        else add('not-evaluated', result);
        if (result === true) decided = verdictOf(rule);
        else if (result !== false && rule.require === 'deny') decided = verdictOf(rule, result.error);
        else if (result !== false) doubts.push(verdictOf(rule, result.error));
      }
    }
    return { verdict: inDoubt(doubts, decided ?? UNDECIDED), steps };
  };
}

/** Stands in place of a rule where only the tool itself asks for approval. */
export const NEEDED_RULE = 'the tool needs approval';

/** Lets a tool ask for approval of what its rules would let run; it can only add. A tool that cannot tell at once asks. */
export function rulesWithNeed(
  rules: ApprovalRules,
  needsApproval: ((input: JsonValue) => unknown) | undefined,
): ApprovalRules {
  if (needsApproval === undefined) return rules;
  return (call) => {
    const judged = rules(call);
    if (judged.verdict.outcome !== 'run' || !isNeeded(needsApproval, call.input)) return judged;
    return { ...judged, verdict: { outcome: 'ask', policy: DEFAULT_POLICY_NAME, rule: NEEDED_RULE } };
  };
}

function isNeeded(needsApproval: (input: JsonValue) => unknown, input: JsonValue): boolean {
  try {
    return needsApproval(input) !== false;
  } catch {
    return true;
  }
}

const UNDECIDED: ApprovalVerdict = { outcome: 'ask', policy: DEFAULT_POLICY_NAME, rule: UNDECIDED_RULE };

/** Adds to a verdict what the rules before it may ask; a call about which a rule leaves a doubt never runs unapproved. */
function inDoubt(doubts: readonly ApprovalVerdict[], decided: ApprovalVerdict): ApprovalVerdict {
  const [first] = doubts;
  if (first === undefined || decided.outcome === 'deny') return decided;
  const asked = [...doubts, decided].flatMap((verdict) =>
    verdict.outcome === 'ask' ? [verdict.policy] : [],
  );
  const policy = asked.length === 0 ? DEFAULT_POLICY_NAME : allPolicies(asked);
  return { outcome: 'ask', policy, rule: first.rule };
}

/** Returns the verdict of the rule that decides; `error` says why its condition could not be evaluated. */
function verdictOf(rule: ApprovalRule, error?: string): ApprovalVerdict {
  const { match: label = 'this tool', require = 'always', when, policy } = rule;
  const doubt = error === undefined ? '' : ` (it could not be evaluated: ${error})`;
  const condition = when === undefined ? '' : ` when ${when}${doubt}`;
  if (require === 'deny')
    return {
      outcome: 'deny',
      // What the rule says may not be so.
      reason: `${rule.reason ?? NO_REASON}${error === undefined ? '' : ` (not checked: ${error})`}`,
      rule: `${label}: deny${condition}`,
    };
  // A rule that names a policy with its "never" says who is asked in doubt.
  if (require === 'never' && (error === undefined || policy === undefined))
    return { outcome: 'run', rule: `${label}: never${condition}` };
  return {
    outcome: 'ask',
    policy: policy ?? DEFAULT_POLICY_NAME,
    rule: `${label}:${when === undefined ? ' always' : condition}`,
    // A rule that could not be evaluated may not be what it says.
    ...(rule.because !== undefined && error === undefined && { because: rule.because }),
  };
}

/** Tells whether a rule is for a tool. */
export function isFor({ match }: ApprovalRule, tool: string): boolean {
  return match === undefined || matchesGlob(match, tool);
}

/** Tells whether a name matches a pattern in which `*` stands for any characters and `?` for one. */
export function matchesGlob(pattern: string, name: string): boolean {
  const source = pattern
    .split('')
    .map((letter) =>
      letter === '*' ? '.*' : letter === '?' ? '.' : letter.replace(/[\\^$.|+()[\]{}]/, '\\$&'),
    )
    .join('');
  return re2Pattern(`(?s)^${source}$`).test(name);
}

/** The verdict on a call, the person for whom it is that strict, and what each rule said. */
export interface Explanation extends JudgedRules {
  readonly requester: string;
}

/**
 * Applies the rules once for each person, as if that person were the requester, and returns a verdict that is as strict as that of each of
 * them: a call is denied if it is for anyone, and approval is needed if it is for anyone. Requesters come first.
 */
export function judgeStrictly(rules: ApprovalRules, call: JudgedCall, policyOf: PolicyOf): Explanation {
  // Everyone is judged at the same moment.
  const timed = { ...call, now: call.now ?? new Date() };
  const people = [...call.requesters, ...call.contextAuthors];
  const judge = (requester: string) => ({ requester, ...rules({ ...timed, requester }) });
  const [first, ...others] = [judge(people[0] ?? ''), ...people.slice(1).map(judge)] as const;
  const verdict = strictestVerdict(
    first.verdict,
    others.map((other) => other.verdict),
    policyOf,
  );
  const decisive = [first, ...others].find((each) => each.verdict.rule === verdict.rule) ?? first;
  return { ...decisive, verdict };
}

/**
 * Returns a verdict that is at least as strict as each of several: denied if one denies, else approved under every policy that one of them
 * asks, as far as no other is as strict. It names the limit that is exceeded, or the first rule that asks for what is
 * needed; the reason that a rule gives is kept beside a limit.
 */
export function strictestVerdict(
  verdict: ApprovalVerdict,
  others: readonly ApprovalVerdict[],
  policyOf: PolicyOf,
): ApprovalVerdict {
  const verdicts = [verdict, ...others];
  const denied = verdicts.find(({ outcome }) => outcome === 'deny');
  const asked = verdicts.filter((each) => each.outcome === 'ask');
  if (denied !== undefined) return denied;
  const policy = strictestPolicy(
    asked.map((each) => each.policy),
    policyOf,
  );
  const needed = policiesNamed(policy);
  const decisive =
    asked.find(({ overLimit }) => overLimit) ??
    asked.find((each) => policiesNamed(each.policy).some((name) => needed.includes(name)));
  if (decisive === undefined) return verdict;
  const because = decisive.because ?? (decisive.overLimit && asked.find((each) => each.because)?.because);
  return { ...decisive, policy, ...(because !== undefined && { because }) };
}
