import { type Circumstances, compileCondition } from './condition.ts';

/** One rule as the manifest has it; a rule that names no tools is for all of them. */
export interface ApprovalRule {
  readonly match?: string | undefined;
  readonly require?: 'never' | 'always' | undefined;
  readonly when?: string | undefined;
  readonly policy?: string | undefined;
}

/** Whether a call has to be signed, by which policy, and which rule says so. */
export type ApprovalVerdict =
  | { readonly needed: false; readonly rule: string }
  | { readonly needed: true; readonly rule: string; readonly policy: string };

export type ApprovalRules = (circumstances: Circumstances) => ApprovalVerdict;

export const DEFAULT_POLICY_NAME = 'default';

/**
 * Compiles the rules of a tool. The first rule that speaks decides: `never` and `always` speak for every call, `when` only for
 * those it is true of, and where it cannot be evaluated it speaks for approval. A call of which every rule's condition is false
 * needs none; a tool of which no rule speaks at all needs the default policy's.
 */
export function compileApprovalRules(rules: readonly ApprovalRule[]): ApprovalRules {
  const compiled = rules.map((rule) => ({
    fits: (tool: string) => rule.match === undefined || matchesGlob(rule.match, tool),
    condition: rule.when === undefined ? undefined : compileCondition(rule.when),
    require: rule.require ?? 'always',
    policy: rule.policy ?? DEFAULT_POLICY_NAME,
    when: rule.when ?? '',
    label: rule.match ?? 'this tool',
  }));
  return (circumstances) => {
    const fitting = compiled.filter(({ fits }) => fits(circumstances.tool));
    for (const { condition, require, policy, when, label } of fitting) {
      if (condition === undefined) {
        if (require === 'never') return { needed: false, rule: `${label}: never` };
        return { needed: true, policy, rule: `${label}: always` };
      }
      const said = condition(circumstances);
      if (said === false) continue;
      if (require === 'never' && said === true)
        return { needed: false, rule: `${label}: never when ${when}` };
      const doubt = said === true ? '' : ` (it could not be evaluated: ${said.error})`;
      return { needed: true, policy, rule: `${label}: when ${when}${doubt}` };
    }
    const spoken = fitting.some(({ require }) => require === 'always');
    if (spoken) return { needed: false, rule: 'no condition is true' };
    return { needed: true, policy: DEFAULT_POLICY_NAME, rule: 'no rule is for this call' };
  };
}

/** Tells whether a name fits a pattern in which `*` stands for any characters and `?` for one. */
export function matchesGlob(pattern: string, name: string): boolean {
  const source = pattern
    .split('')
    .map((letter) =>
      letter === '*' ? '.*' : letter === '?' ? '.' : letter.replace(/[\\^$.|+()[\]{}]/, '\\$&'),
    )
    .join('');
  return new RegExp(`^${source}$`, 's').test(name);
}
