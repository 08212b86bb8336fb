import type { Effect } from '../../agent/tool.ts';
import { profileAskedFor, usesGroups } from '../../policy/condition.ts';
import { DEFAULT_POLICY_NAME } from '../../policy/policy.ts';
import { type ApprovalRule, matchesGlob } from '../../policy/rules.ts';
import type { McpHints } from '../mcp/build-tools.ts';
import type { ToolSource } from './tool-source.ts';

/** The rules that a tool is under. */
export interface ToolRules {
  readonly rules: readonly ApprovalRule[];
  /** The rules for while nobody has looked at its present definition. */
  readonly strict: readonly ApprovalRule[];
  /** The policy of the first rule that names one. */
  readonly policy: string;
  /** The effect that its server tells of it, where its hints are trusted. */
  readonly hintedEffect: Effect | undefined;
  /** Whether the rules, or the people who may use it, depend on user groups. */
  readonly asksForGroups: boolean;
  /** Whether the rules depend on the profiles of people. */
  readonly asksForProfiles: boolean;
}

/** Chooses the rules of a tool: those of its entry, then a trusted hint. A definition that nobody has looked at is under strict ones. */
export function chooseRules(source: ToolSource, name: string, isLocked: boolean): ToolRules {
  const { declaration } = source;
  const isUnchecked = !isLocked && source.hasChanged(name);
  const trustsHints = declaration.kind === 'mcp' && declaration.trustHints === true;
  const hints = trustsHints && !isUnchecked ? source.hintsOf(name) : undefined;
  const strict = strictRules(name, declaration.approval);
  // A trusted hint comes last, after the rules of the manifest.
  const trusted: ApprovalRule[] = hints?.readOnly === true ? [{ require: 'never' }] : [];
  const rules = isUnchecked ? strict : [...declaration.approval, ...trusted];
  return {
    rules,
    strict,
    policy: policyFor(name, rules),
    hintedEffect: hints === undefined ? undefined : hintedEffect(hints),
    asksForGroups:
      declaration.allow.groups !== undefined ||
      rules.some(({ when }) => when !== undefined && usesGroups(when)),
    asksForProfiles: rules.some(({ when = '' }) => profileAskedFor(when).length > 0),
  };
}

/** Returns rules under which every call needs approval, for a definition that no admin has seen. */
function strictRules(name: string, rules: readonly ApprovalRule[]): ApprovalRule[] {
  return [...rules.filter(({ require }) => require !== 'never'), { policy: policyFor(name, rules) }];
}

/** Returns the policy of the first rule for this tool that names one. */
function policyFor(name: string, rules: readonly ApprovalRule[]): string {
  const own = rules.find(({ match = '*', policy }) => matchesGlob(match, name) && policy !== undefined);
  return own?.policy ?? DEFAULT_POLICY_NAME;
}

function hintedEffect({ readOnly, idempotent }: McpHints): Effect | undefined {
  if (readOnly === true) return 'none';
  return idempotent === true ? 'idempotent' : undefined;
}
