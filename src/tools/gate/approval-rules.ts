import { type ConditionInput, compileCondition } from './condition.ts';

/** One approval rule of the manifest; a rule without `match` is for every tool of its entry. */
export interface ApprovalRule {
  readonly match?: string | undefined;
  readonly require?: 'never' | 'always' | 'deny' | undefined;
  readonly when?: string | undefined;
  readonly policy?: string | undefined;
  /** Tells the model and the requester why a call is denied. */
  readonly reason?: string | undefined;
}

/** Tells whether a call runs, needs approval and by which policy, or is denied and why; and which rule decided. */
export type ApprovalVerdict =
  | { readonly outcome: 'run'; readonly rule: string }
  | { readonly outcome: 'ask'; readonly rule: string; readonly policy: string }
  | { readonly outcome: 'deny'; readonly rule: string; readonly reason: string };

/** The verdict of one rule on a call: its condition is true or false, or could not be evaluated; a rule after the deciding one is not asked. */
export interface RuleStep {
  /** Its number in the list, from 1. */
  readonly number: number;
  readonly rule: ApprovalRule;
  readonly result: 'no-condition' | 'true' | 'false' | 'not-evaluated' | 'other-tool' | 'not-asked';
}

/** The verdict on a call, with what each rule said of it. */
export interface JudgedRules {
  readonly verdict: ApprovalVerdict;
  readonly steps: readonly RuleStep[];
}

export type ApprovalRules = (call: ConditionInput) => JudgedRules;

export const DEFAULT_POLICY_NAME = 'default';
const NO_REASON = 'A rule does not allow this call';

/** Returns the time zone of a policy, for the `now` of the rules that name it. */
export type TimeZoneOf = (policy: string) => string | undefined;

/**
 * Compiles the rules of a tool. The first rule that applies decides: a rule without `when` applies to every call, one with `when` to
 * the calls of which it is true. A condition that cannot be evaluated requires approval, or denies if its rule does. If every condition
 * is false, no approval is needed; if no rule asks for approval of the tool, the default policy's is.
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
    let verdict: ApprovalVerdict | undefined;
    for (const { rule, number, condition } of compiled) {
      const { policy = DEFAULT_POLICY_NAME } = rule;
      const add = (result: RuleStep['result']) => steps.push({ number, rule, result });
      if (verdict !== undefined) add('not-asked');
      else if (!isFor(rule, call.tool)) add('other-tool');
      else if (condition === undefined) {
        add('no-condition');
        verdict = verdictOf(rule, undefined);
      } else {
        const result = condition({ ...call, timeZone: timeZoneOf(policy) });
        add(typeof result === 'boolean' ? `${result}` : 'not-evaluated');
        if (result !== false) verdict = verdictOf(rule, result === true ? undefined : result.error);
      }
    }
    return { verdict: verdict ?? undecided(rules, call.tool), steps };
  };
}

/** Returns the verdict of the rule that decides; `error` says why its condition could not be evaluated. */
function verdictOf(rule: ApprovalRule, error: string | undefined): ApprovalVerdict {
  const { match: label = 'this tool', require = 'always', when, policy = DEFAULT_POLICY_NAME } = rule;
  const doubt = error === undefined ? '' : ` (it could not be evaluated: ${error})`;
  const condition = when === undefined ? '' : ` when ${when}${doubt}`;
  if (require === 'deny')
    return { outcome: 'deny', reason: rule.reason ?? NO_REASON, rule: `${label}: deny${condition}` };
  if (require === 'never' && error === undefined)
    return { outcome: 'run', rule: `${label}: never${condition}` };
  return { outcome: 'ask', policy, rule: `${label}:${when === undefined ? ' always' : condition}` };
}

/** Returns the verdict on a call to which no rule applies. */
function undecided(rules: readonly ApprovalRule[], tool: string): ApprovalVerdict {
  const mayAsk = rules.some((rule) => isFor(rule, tool) && (rule.require ?? 'always') === 'always');
  if (mayAsk) return { outcome: 'run', rule: 'no condition is true' };
  return { outcome: 'ask', policy: DEFAULT_POLICY_NAME, rule: 'no rule is for this call' };
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
  return new RegExp(`^${source}$`, 's').test(name);
}
