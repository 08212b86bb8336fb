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

export type ApprovalRules = (call: ConditionInput) => ApprovalVerdict;

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
  const compiled = rules.map((rule) => ({
    matches: (tool: string) => isFor(rule, tool),
    condition: rule.when === undefined ? undefined : compileCondition(rule.when),
    require: rule.require ?? 'always',
    policy: rule.policy ?? DEFAULT_POLICY_NAME,
    when: rule.when ?? '',
    label: rule.match ?? 'this tool',
    reason: rule.reason ?? NO_REASON,
  }));
  return (call) => {
    const matching = compiled.filter(({ matches }) => matches(call.tool));
    for (const { condition, require, policy, when, label, reason } of matching) {
      if (condition === undefined) {
        if (require === 'deny') return { outcome: 'deny', reason, rule: `${label}: deny` };
        if (require === 'never') return { outcome: 'run', rule: `${label}: never` };
        return { outcome: 'ask', policy, rule: `${label}: always` };
      }
      const result = condition({ ...call, timeZone: timeZoneOf(policy) });
      if (result === false) continue;
      const doubt = result === true ? '' : ` (it could not be evaluated: ${result.error})`;
      if (require === 'deny') return { outcome: 'deny', reason, rule: `${label}: deny when ${when}${doubt}` };
      if (require === 'never' && result === true)
        return { outcome: 'run', rule: `${label}: never when ${when}` };
      return { outcome: 'ask', policy, rule: `${label}: when ${when}${doubt}` };
    }
    if (matching.some(({ require }) => require === 'always'))
      return { outcome: 'run', rule: 'no condition is true' };
    return { outcome: 'ask', policy: DEFAULT_POLICY_NAME, rule: 'no rule is for this call' };
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
  return new RegExp(`^${source}$`, 's').test(name);
}
