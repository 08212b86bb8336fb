import { isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import { pointerTo } from '../../../agent/util/json-pointer.ts';
import { DEFAULT_POLICY_NAME, matchesGlob } from '../../gate/approval-rules.ts';
import type { Finding } from '../problem.ts';
import { RuleFile } from '../schema/policies.ts';
import { checkExpression } from './check-expression.ts';
import { readableParts } from './check-shape.ts';
import { unknownInputNames } from './condition-names.ts';
import { constantCondition, impliesCondition } from './implied-condition.ts';
import { didYouMean } from './nearest-word.ts';

const CONDITION = { what: 'condition', types: ['bool'], expected: 'a condition must be true or false' };

interface LocatedRule {
  readonly pointer: string;
  readonly rule: RuleFile;
}

export interface RuleFindings {
  readonly findings: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Checks the rules of one tool: their conditions, their policies, and whether each of them can ever apply. */
export function checkRules(
  pointer: string,
  tool: JsonObject,
  name: string,
  policies: readonly string[],
): RuleFindings {
  const written = listRules(`${pointer}/approval`, tool.approval);
  const rules = written.map(({ pointer: at, value }) => ({
    pointer: at,
    rule: readableParts(RuleFile, value),
  }));
  // A module or a server brings its own schema, which the doctor knows.
  const schema = tool.http === undefined ? undefined : (tool.input ?? NO_INPUT);
  const findings = rules.flatMap((rule) => [
    ...checkRule(rule, policies),
    ...(isJsonObject(schema) ? checkNames(rule, schema) : []),
  ]);
  // A rule with a mistake cannot be compared with the others.
  if (written.some(({ value }) => !RuleFile.safeParse(value).success)) return { findings, warnings: [] };
  // A server or a module may have several tools, with names of their own.
  const onlyName = tool.http === undefined ? undefined : name;
  if (!policies.includes(DEFAULT_POLICY_NAME) && needsDefault(rules, onlyName)) {
    const message =
      'some calls need the policy "default", but there is none in policies; add it or name another here';
    findings.push({ pointer, at: 'key', message });
  }
  return { findings, warnings: findUnusedRules(rules, onlyName) };
}

function listRules(
  pointer: string,
  approval: JsonValue | undefined,
): { pointer: string; value: JsonValue }[] {
  if (Array.isArray(approval)) {
    return approval.map((value: JsonValue, index) => ({ pointer: pointerTo(pointer, index), value }));
  }
  return isJsonObject(approval) ? [{ pointer, value: approval }] : [];
}

function checkRule(
  { pointer, rule: { when, policy, require, reason } }: LocatedRule,
  policies: readonly string[],
): Finding[] {
  const findings: Finding[] = [];
  if (require === 'deny' && reason === undefined)
    findings.push({
      pointer,
      at: 'value',
      message: '"reason" is missing: say why, because the requester and the model are told',
    });
  if (require !== 'deny' && reason !== undefined)
    findings.push({
      pointer: `${pointer}/reason`,
      at: 'key',
      message: 'only a rule with "require: deny" has a reason',
    });
  const wrong = when === undefined ? undefined : checkExpression(when, CONDITION);
  if (wrong !== undefined) findings.push({ pointer: `${pointer}/when`, at: 'value', ...wrong });
  if (policy !== undefined && policy !== DEFAULT_POLICY_NAME && !policies.includes(policy)) {
    const known = policies.length === 0 ? '; policies is empty' : `; the policies are ${policies.join(', ')}`;
    const message = `there is no policy "${policy}"${didYouMean(policy, policies) || known}`;
    findings.push({ pointer: `${pointer}/policy`, at: 'value', message });
  }
  return findings;
}

const NO_INPUT: JsonObject = { type: 'object', properties: {} };

function checkNames({ pointer, rule: { when } }: LocatedRule, schema: JsonObject): Finding[] {
  if (when === undefined) return [];
  return unknownInputNames(when, schema).map((problem) => ({
    pointer: `${pointer}/when`,
    at: 'value',
    ...problem,
  }));
}

/** Tells whether some call of the tool, or of tools with unknown names, needs the default policy. */
function needsDefault(rules: readonly LocatedRule[], name: string | undefined): boolean {
  const fitting = rules.map(({ rule }) => rule).filter((rule) => name === undefined || covers(rule, name));
  const turnsToIt = ({ policy, require, when }: RuleFile): boolean =>
    (policy ?? DEFAULT_POLICY_NAME) === DEFAULT_POLICY_NAME &&
    require !== 'deny' &&
    (require !== 'never' || when !== undefined);
  const isFinal = ({ require = 'always', when, match }: RuleFile): boolean =>
    (name !== undefined || covers({ match }, '*')) && (when === undefined || require === 'always');
  return fitting.some(turnsToIt) || !fitting.some(isFinal);
}

function findUnusedRules(rules: readonly LocatedRule[], name: string | undefined): Finding[] {
  return rules.flatMap(({ pointer, rule }, index): Finding[] => {
    const { match = '*', policy, when } = rule;
    if (name !== undefined && !covers(rule, name)) {
      const message = `this rule is never used: "${match}" does not match "${name}"`;
      return [{ pointer: `${pointer}/match`, at: 'value', message }];
    }
    if (when !== undefined && constantCondition(when) === false) {
      const message = 'this rule is never used: its condition is always false';
      return [{ pointer: `${pointer}/when`, at: 'value', message }];
    }
    const earlier = rules
      .slice(0, index)
      .findIndex(({ rule: other }) => covers(other, name ?? match) && decides(other, rule));
    if (earlier !== -1) {
      const message = `this rule is never used: rule ${earlier + 1} before it decides every call it is for`;
      return [{ pointer, at: 'value', message }];
    }
    const unused = policy === undefined ? undefined : unusedPolicy(rule);
    return unused === undefined ? [] : [{ pointer: `${pointer}/policy`, at: 'value', message: unused }];
  });
}

/** Tells whether a rule decides every call to which a later one would apply. */
function decides({ when }: RuleFile, later: RuleFile): boolean {
  if (when === undefined || constantCondition(when) === true) return true;
  return later.when !== undefined && impliesCondition(later.when, when);
}

function unusedPolicy({ require, when }: RuleFile): string | undefined {
  if (require === 'deny' && when === undefined)
    return 'with "require: deny" nobody is asked, so no policy is used';
  if (require === 'never' && when === undefined)
    return 'with "require: never" no approval is needed, so no policy is used';
  return undefined;
}

/**
 * Tells whether a rule matches every name that a pattern matches. A `*` matches the wildcards of the other pattern like any letter. A
 * `?` would match a `*`, which stands for more than one letter, so it counts only if both patterns are the same.
 */
function covers({ match = '*' }: RuleFile, pattern: string): boolean {
  if (match === pattern) return true;
  return (!match.includes('?') || !/[*?]/.test(pattern)) && matchesGlob(match, pattern);
}
