import { describeError } from '../../../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, pointerTo, toJson } from '../../../agent/json.ts';
import { re2Pattern } from '../../../agent/util/pattern.ts';
import {
  conditionEnvironment,
  findInexact,
  isNode,
  type MethodCall,
  methodCalls,
  placeOfVariable,
  profileAskedFor,
  usesGroups,
} from '../../../policy/condition.ts';
import { DEFAULT_POLICY_NAME } from '../../../policy/policy.ts';
import { matchesGlob } from '../../../policy/rules.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { RuleFile, toRule } from '../schema/policies.ts';
import { readableParts } from './check-shape.ts';
import { isFromCode } from './check-texts.ts';
import {
  type ConditionProblem,
  comparedName,
  gapBetween,
  impliesCondition,
  inputPath,
  wrongComparisons,
  wrongResult,
} from './condition-values.ts';

interface LocatedRule {
  readonly pointer: string;
  /** Whether the name of its policy stands alone, in place of a rule. */
  readonly isWord?: boolean | undefined;
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
  const rules = written.map(({ pointer: at, value, isWord }) => ({
    pointer: at,
    isWord,
    rule: readableParts(RuleFile, value),
  }));
  // A module or a server brings its own schema, which the doctor knows.
  const schema = tool.http === undefined ? undefined : (tool.input ?? NO_INPUT);
  const known = isJsonObject(schema) ? schema : undefined;
  const findings = rules.flatMap((rule) => [
    ...checkRule(rule, policies, known),
    ...conditionFindings(`${rule.pointer}/when`, rule.rule.when, known),
    ...targetFindings(rule, tool),
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
  const warnings = [
    ...findUnusedRules(rules, onlyName),
    ...findGap(rules, known, onlyName),
    ...rules.flatMap(caseFindings),
  ];
  return { findings, warnings };
}

/** Finds a condition about a target where nothing says what a call touches; a module may say it itself. */
function targetFindings({ pointer, rule: { when = '' } }: LocatedRule, tool: JsonObject): Finding[] {
  const inside = /(?<![\w."'])first\.(?:target|pair)\b/.exec(when)?.index;
  const cards = Array.isArray(tool.cards) ? tool.cards : [];
  const hasTarget = [tool, ...cards].some((texts) => isJsonObject(texts) && texts.target !== undefined);
  if (inside === undefined || hasTarget || isFromCode(tool)) return [];
  const message = 'nothing says what a call touches; add "target", such as "{{input.customer}}"';
  return [{ pointer: `${pointer}/when`, at: 'value', inside, message }];
}

/** Finds an input that is compared with an address as it is written: the same address in capitals would be another. */
function caseFindings({ pointer, rule: { when = '' } }: LocatedRule): Finding[] {
  const found =
    /(input(?:\.\w+)+) *[!=]= *requester\.email\b|\brequester\.email *[!=]= *(input(?:\.\w+)+)(?![\w.(])/.exec(
      when,
    );
  const input = found?.[1] ?? found?.[2];
  if (input === undefined) return [];
  const message = `requester.email is in small letters, and ${input} may not be; write ${input}.lowerAscii()`;
  return [{ pointer: `${pointer}/when`, at: 'value', inside: when.indexOf(input), message }];
}

/** Finds numbers between the conditions of a list that none of its rules is for. */
function findGap(
  rules: readonly LocatedRule[],
  schema: JsonObject | undefined,
  name: string | undefined,
): Finding[] {
  const fitting = rules.filter(({ rule }) =>
    name === undefined ? rule.match === undefined : covers(rule, name),
  );
  const conditions = fitting.flatMap(({ rule: { when } }) => when ?? []);
  const last = fitting.at(-1);
  if (last === undefined || conditions.length < rules.length) return [];
  const gap = gapBetween(conditions, schema);
  if (gap === undefined) {
    const message = uncheckedGap(conditions, schema);
    return message === undefined ? [] : [{ pointer: last.pointer, at: 'value', message }];
  }
  const message = `${gap} fits no rule, so the policy "default" is asked; close the gap, or end the list with a rule without "when"`;
  return [{ pointer: last.pointer, at: 'value', message }];
}

/** Names a number that fits no rule about it, where a rule about something else may be for it. */
function uncheckedGap(conditions: readonly string[], schema: JsonObject | undefined): string | undefined {
  const names = conditions.map((condition) => comparedName(condition, schema));
  for (const name of new Set(names.filter((each) => each !== undefined))) {
    const gap = gapBetween(
      conditions.filter((_, index) => names[index] === name),
      schema,
    );
    const other = conditions.find((_, index) => names[index] !== name);
    if (gap !== undefined)
      return `not checked: ${gap} fits no rule, unless ${other} is true; else the policy "default" is asked`;
  }
  return undefined;
}

/** Finds names that the input does not have, and comparisons that cannot be what was meant. */
export function conditionFindings(
  pointer: string,
  when: string | undefined,
  schema: JsonObject | undefined,
): Finding[] {
  if (when === undefined) return [];
  const wrong = schema === undefined ? undefined : wrongResult(when, schema, ['boolean']);
  return [
    ...(schema === undefined ? [] : unknownInputNames(when, schema)),
    ...wrongComparisons(when, schema),
    ...(wrong === undefined ? [] : [{ inside: 0, message: `${CONDITION.expected}, but ${wrong}` }]),
  ].map((problem) => ({ pointer, at: 'value', ...problem }));
}

/** Lists the rules of a tool as they are written, each with its pointer; a word stands for a rule. */
export function listRules(
  pointer: string,
  approval: JsonValue | undefined,
): { pointer: string; value: JsonValue; isWord?: boolean }[] {
  if (typeof approval === 'string') return [{ pointer, value: toJson(toRule(approval)), isWord: true }];
  if (Array.isArray(approval)) {
    return approval.map((value: JsonValue, index) => ({ pointer: pointerTo(pointer, index), value }));
  }
  return isJsonObject(approval) ? [{ pointer, value: approval }] : [];
}

function checkRule(
  { pointer, isWord, rule: { when, policy, require, reason, because } }: LocatedRule,
  policies: readonly string[],
  schema: JsonObject | undefined,
): Finding[] {
  const inputs = isJsonObject(schema?.properties) ? Object.keys(schema.properties) : [];
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
  if ((require === 'deny' || require === 'never') && because !== undefined)
    findings.push({
      pointer: `${pointer}/because`,
      at: 'key',
      message: 'only a rule that asks for approval has "because"',
    });
  const wrong = when === undefined ? undefined : checkExpression(when, RULE_CONDITION, inputs);
  if (wrong !== undefined) findings.push({ pointer: `${pointer}/when`, at: 'value', ...wrong });
  if (policy !== undefined && policy !== DEFAULT_POLICY_NAME && !policies.includes(policy)) {
    const known = policies.length === 0 ? '; policies is empty' : `; the policies are ${policies.join(', ')}`;
    const names = isWord === true ? [...policies, 'never', 'deny'] : policies;
    const message = `there is no policy "${policy}"${didYouMean(policy, names) || known}`;
    findings.push({ pointer: isWord === true ? pointer : `${pointer}/policy`, at: 'value', message });
  }
  return findings;
}

const NO_INPUT: JsonObject = { type: 'object', properties: {} };

/** Tells whether some call of the tool, or of tools with unknown names, needs the default policy. */
export function needsDefault(rules: readonly LocatedRule[], name: string | undefined): boolean {
  const fitting = rules.map(({ rule }) => rule).filter((rule) => name === undefined || covers(rule, name));
  const turnsToIt = ({ policy, require = 'always' }: RuleFile): boolean =>
    policy === DEFAULT_POLICY_NAME || (policy === undefined && require === 'always');
  const isDoubtful = ({ policy, require, when }: RuleFile): boolean =>
    policy === undefined && require === 'never' && when !== undefined;
  const last = fitting.find(
    ({ when, match }) => when === undefined && (name !== undefined || covers({ match }, '*')),
  );
  // A list without a rule for every call ends with it, and so does a doubt that no later rule settles.
  if (last === undefined || fitting.some(turnsToIt)) return true;
  return last.require === 'never' && fitting.some(isDoubtful);
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

/** Finds names in a condition, such as `input.sevrity`, that the schema of the tool's input does not have. A condition that does not parse has none. */
export function unknownInputNames(expression: string, schema: JsonObject): ConditionProblem[] {
  if (!conditionEnvironment.check(expression).valid) return [];
  const problems: ConditionProblem[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isNode(value)) return;
    const path = inputPath(value);
    const problem = path === undefined ? undefined : findUnknown(path, schema);
    // The access itself is checked as a whole, and not once more for each part of it.
    if (path === undefined) visit(value.args);
    else if (problem !== undefined) problems.push({ inside: value.start, message: problem });
  };
  visit(conditionEnvironment.parse(expression).ast);
  return problems;
}

function findUnknown(path: readonly string[], schema: JsonObject): string | undefined {
  let current = schema;
  for (const [depth, name] of path.entries()) {
    const { properties } = current;
    if (!isJsonObject(properties) || isOpen(current)) return undefined;
    const next = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (next === undefined) {
      const known = Object.keys(properties);
      const where = ['input', ...path.slice(0, depth)].join('.');
      const others = known.length === 0 ? `; ${where} has no names` : `; ${where} has ${known.join(', ')}`;
      return `${where} has no "${name}"${didYouMean(name, known) || others}`;
    }
    if (!isJsonObject(next)) return undefined;
    current = next;
  }
  return undefined;
}

/** Tells whether a schema may have names beside its properties. */
export function isOpen(schema: JsonObject): boolean {
  const { additionalProperties: others } = schema;
  const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'if'];
  return others === true || isJsonObject(others) || combining.some((key) => schema[key] !== undefined);
}

/** Lists the texts that an expression such as `a ? 'high' : 'low'` can give, as far as they are written out. */
export function possibleTexts(expression: string): { readonly text: string; readonly inside: number }[] {
  const texts: { text: string; inside: number }[] = [];
  const visit = (node: unknown): void => {
    if (!isNode(node)) return;
    const { op, args, start }: { op: string; args: unknown; start: number } = node;
    if (op === 'value' && typeof args === 'string') texts.push({ text: args, inside: start });
    if (op === '?:' && Array.isArray(args)) for (const branch of args.slice(1)) visit(branch);
  };
  visit(conditionEnvironment.parse(expression).ast);
  return texts;
}

/** Returns the value of a condition that is only a constant. */
function constantCondition(condition: string): boolean | undefined {
  if (!conditionEnvironment.check(condition).valid) return undefined;
  const { op, args } = conditionEnvironment.parse(condition).ast;
  return op === 'value' && typeof args === 'boolean' ? args : undefined;
}

const VARIABLES = ['input', 'requester', 'requesters', 'context_authors', 'channel', 'tool', 'first', 'now'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  now: ['date', 'weekday', 'hour', 'minute'],
  first: ['tool', 'target', 'pair'],
};

const ELSEWHERE = [
  ['approved', 'only the "when" of a limit knows "approved"'],
  ['output', 'only the "when" of a freeze knows "output"'],
] as const;

interface ExpressionProblem {
  /** The offset of the mistake in the expression. */
  readonly inside: number;
  readonly message: string;
}

interface ExpectedResult {
  readonly what: string;
  readonly types: readonly string[];
  readonly expected: string;
  /** Whether the user groups and the profile of the requester are known there. */
  readonly hasGroups?: true;
  /** The variable that only such an expression has. */
  readonly variable?: 'approved' | 'output';
}

/** The result of a condition. */
export const CONDITION: ExpectedResult = {
  what: 'condition',
  types: ['bool'],
  expected: 'a condition must be true or false',
};

const RULE_CONDITION: ExpectedResult = { ...CONDITION, hasGroups: true };

/** Finds a member of the requester that there is not. */
function unknownMember(expression: string): readonly string[] | null {
  return /(?<![\w.])requester\.(?!(?:groups|email|name)\b)(\w+)/.exec(expression);
}

/** Lists what an expression asks of the requester beside the id. */
function membersOf(expression: string): readonly string[] {
  const members = [...(usesGroups(expression) ? ['groups'] : []), ...profileAskedFor(expression)];
  return members.map((member) => `requester.${member}`);
}

/** Checks a CEL expression: its syntax, its variables, and the type of its result; `inputs` are the names of the tool's input. */
export function checkExpression(
  expression: string,
  { what, types, expected, hasGroups, variable }: ExpectedResult,
  inputs: readonly string[] = [],
): ExpressionProblem | undefined {
  const { valid, type, error } = conditionEnvironment.check(expression);
  if (valid) {
    const inexact = findInexact(expression);
    if (inexact !== undefined) return { inside: inexact.start, message: inexact.problem };
    for (const [name, message] of ELSEWHERE) {
      const inside = variable === name ? -1 : placeOfVariable(expression, name);
      if (inside !== -1) return { inside, message };
    }
    const [member] = hasGroups === true ? [] : membersOf(expression);
    if (member !== undefined)
      return {
        inside: Math.max(expression.indexOf(member), 0),
        message: `${member} is known to approval rules only`,
      };
    const problem = methodCalls(expression)
      .filter(({ name }) => name === 'matches')
      .map(patternProblem)
      .find((found) => found !== undefined);
    if (problem !== undefined) return problem;
    if (type === 'dyn' || types.includes(String(type))) return undefined;
    return { inside: 0, message: `${expected}, but this is of type ${type}` };
  }
  const inside = error?.range?.start ?? 0;
  const summary = error?.summary ?? 'it cannot be read';
  const reason = summary === 'Unexpected token: EOF' ? 'it is incomplete' : summary;
  const [, missing] = /^No such key: (\S+)$/.exec(reason) ?? [];
  if (missing !== undefined) {
    const of =
      /\bfirst\s*\.\s*$/.test(expression.slice(0, inside)) || expression.startsWith('first', inside)
        ? 'first'
        : 'now';
    const fields = FIELDS[of] ?? [];
    const guess = didYouMean(missing, fields) || `; ${of} has ${fields.join(', ')}`;
    return { inside, message: `${of} has no "${missing}"${guess}` };
  }
  const [of, member] = /^Cannot index type/.test(reason) ? (unknownMember(expression) ?? []) : [];
  if (of !== undefined && member !== undefined) {
    const members = ['groups', 'email', 'name'];
    const guess = didYouMean(member, members) || `; it has ${members.join(', ')}`;
    return {
      inside: expression.indexOf(of) + of.length - member.length,
      message: `requester has no "${member}"${guess}`,
    };
  }
  const [, unknown] = /^Unknown variable: (\S+)$/.exec(reason) ?? [];
  if (unknown === undefined)
    return (
      foreignOperator(expression, inside) ?? {
        inside,
        message: `this is not a valid CEL ${what}: ${overloadInWords(reason)}`,
      }
    );
  const guess = inputs.includes(unknown)
    ? `; write input.${unknown}`
    : didYouMean(unknown, VARIABLES) || `; the variables are ${VARIABLES.join(', ')}`;
  return { inside, message: `unknown variable "${unknown}"${guess}` };
}

const OPERATORS = new Map([
  ['and', 'write && for and'],
  ['or', 'write || for or'],
  ['not', 'write ! for not'],
  ['=', 'write == to compare'],
  ['<>', 'write != for different values'],
]);

/** Finds an operator of another language at the place of a syntax error. */
function foreignOperator(expression: string, at: number): ExpressionProblem | undefined {
  const withoutTexts = expression.replace(/'[^']*'|"[^"]*"/g, (text) => '_'.repeat(text.length));
  for (const { index, 0: word } of withoutTexts.matchAll(/\b(?:and|or|not)\b|<>|(?<![=!<>])=(?!=)/gi)) {
    const advice = OPERATORS.get(word.toLowerCase());
    if (advice !== undefined && index <= at + 1 && index + word.length + 1 >= at)
      return { inside: index, message: `"${word}" is not a CEL operator; ${advice}` };
  }
  return undefined;
}

const CEL_TYPES = new Map([
  ['int', 'a number'],
  ['uint', 'a number'],
  ['double', 'a number'],
  ['string', 'text'],
  ['bool', 'true or false'],
]);

/** Says in words what an operator was given: `no such overload: int > string`. */
function overloadInWords(reason: string): string {
  const [, left = '', operator = '', right = ''] = /^no such overload: (\w+) (\S+) (\w+)$/.exec(reason) ?? [];
  const [one, other] = [CEL_TYPES.get(left), CEL_TYPES.get(right)];
  if (one === undefined || other === undefined) return reason;
  return `${operator} is used for ${one} and ${other}, which can't be compared; write both as the same type`;
}

function patternProblem({ start, text: pattern }: MethodCall): ExpressionProblem | undefined {
  if (pattern === undefined)
    return { inside: start, message: 'the pattern of matches() must be written out as a text' };
  try {
    re2Pattern(pattern);
    return undefined;
  } catch (error) {
    return { inside: start, message: describeError(error) };
  }
}
