import { type ConditionInput, compileCondition } from './condition.ts';

/** One approval rule of the manifest; a rule without `match` is for every tool of its entry. */
export interface ApprovalRule {
  readonly match?: string | undefined;
  readonly require?: 'never' | 'always' | undefined;
  readonly when?: string | undefined;
  readonly policy?: string | undefined;
}

/** Tells whether a call needs approval, by which policy, and which rule decided. */
export type ApprovalVerdict =
  | { readonly needed: false; readonly rule: string }
  | { readonly needed: true; readonly rule: string; readonly policy: string };

export type ApprovalRules = (call: ConditionInput) => ApprovalVerdict;

export const DEFAULT_POLICY_NAME = 'default';

/**
 * Compiles the rules of a tool. The first rule that applies decides: a rule without `when` applies to every call, one with `when` to
 * the calls of which it is true. A condition that cannot be evaluated requires approval. If every condition is false, no approval is
 * needed; if no rule is for the tool, the default policy's is.
 */
export function compileApprovalRules(rules: readonly ApprovalRule[]): ApprovalRules {
  const compiled = rules.map((rule) => ({
    matches: (tool: string) => rule.match === undefined || matchesGlob(rule.match, tool),
    condition: rule.when === undefined ? undefined : compileCondition(rule.when),
    require: rule.require ?? 'always',
    policy: rule.policy ?? DEFAULT_POLICY_NAME,
    when: rule.when ?? '',
    label: rule.match ?? 'this tool',
  }));
  return (call) => {
    const matching = compiled.filter(({ matches }) => matches(call.tool));
    for (const { condition, require, policy, when, label } of matching) {
      if (condition === undefined) {
        if (require === 'never') return { needed: false, rule: `${label}: never` };
        return { needed: true, policy, rule: `${label}: always` };
      }
      const result = condition(call);
      if (result === false) continue;
      if (require === 'never' && result === true)
        return { needed: false, rule: `${label}: never when ${when}` };
      const doubt = result === true ? '' : ` (it could not be evaluated: ${result.error})`;
      return { needed: true, policy, rule: `${label}: when ${when}${doubt}` };
    }
    if (matching.some(({ require }) => require === 'always'))
      return { needed: false, rule: 'no condition is true' };
    return { needed: true, policy: DEFAULT_POLICY_NAME, rule: 'no rule is for this call' };
  };
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
