import { serialize } from '@marcbachmann/cel-js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import {
  conditionEnvironment,
  groupAskedFor,
  isNode,
  type Node,
  TOOL_REVERSIBLE,
} from '../../../policy/condition.ts';
import { REVERSIBLE } from '../../../policy/reversible.ts';
import { didYouMean } from '../problem.ts';

type ValueType = 'number' | 'text' | 'boolean' | 'list' | 'mapping';

const TYPE_WORDS: Readonly<Record<ValueType, string>> = {
  number: 'a number',
  text: 'text',
  boolean: 'true or false',
  list: 'a list',
  mapping: 'a mapping',
};

/** The values that a name in a condition can have. */
interface Domain {
  readonly name: string;
  readonly type: ValueType;
  readonly values?: readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly isWhole?: boolean;
  /** The form of its texts, and how to describe it. */
  readonly form?: readonly [pattern: RegExp, words: string];
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const OF_EVERY_CALL = new Map<string, Domain>([
  [TOOL_REVERSIBLE, { name: 'tool.reversible', type: 'text', values: REVERSIBLE }],
  ...[
    { name: 'now.hour', type: 'number', least: 0, most: 23, isWhole: true } as const,
    { name: 'now.minute', type: 'number', least: 0, most: 59, isWhole: true } as const,
    { name: 'now.weekday', type: 'text', values: WEEKDAYS } as const,
    {
      name: 'now.date',
      type: 'text',
      form: [/^\d{4}-\d{2}-\d{2}$/, 'is written as "2026-11-16"'],
    } as const,
    {
      name: 'requester',
      type: 'text',
      form: [/^[UWB][A-Z0-9]{6,20}$/, 'is the id of a person, such as U012ABCDEF'],
    } as const,
    {
      name: 'channel',
      type: 'text',
      form: [/^[CGD][A-Z0-9]{6,20}$/, 'is the id of a channel, such as C012ABCDEF'],
    } as const,
  ].map((domain): [string, Domain] => [domain.name, domain]),
]);

const FLIPPED = new Map([
  ['<', '>'],
  ['<=', '>='],
  ['>', '<'],
  ['>=', '<='],
  ['==', '=='],
  ['!=', '!='],
]);
const TEXT_METHODS = ['startsWith', 'endsWith', 'contains', 'matches'];

export interface ConditionProblem {
  /** The offset of the mistake in the expression. */
  readonly inside: number;
  readonly message: string;
}

/** Returns the names of `input.a.b` or `input["a"]`; `undefined` for anything else. */
export function inputPath(node: Node): readonly string[] | undefined {
  const { op, args }: { op: string; args: unknown } = node;
  if (op === 'id') return args === 'input' ? [] : undefined;
  if (!['.', '.?', '[]'].includes(op) || !Array.isArray(args)) return undefined;
  const [of, key]: unknown[] = args;
  const before = isNode(of) ? inputPath(of) : undefined;
  const name = isNode(key) && String(key.op) === 'value' ? key.args : key;
  return before === undefined || typeof name !== 'string' ? undefined : [...before, name];
}

/** Returns the schema of a value of the input; `undefined` if it is not known. */
export function schemaAt(path: readonly string[], schema: JsonObject): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>((current, name) => {
    const { properties } = current ?? {};
    const next = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isJsonObject(next) ? next : undefined;
  }, schema);
}

/**
 * Finds comparisons that cannot be what was meant: of a number with a text, with a value that is never there, and parts that exclude
 * each other. Without the schema of the tool's input only `now`, `requester` and `channel` are known.
 */
export function wrongComparisons(expression: string, schema: JsonObject | undefined): ConditionProblem[] {
  if (!conditionEnvironment.check(expression).valid) return [];
  const problems: ConditionProblem[] = [];
  const report = (node: Node, message: string): void => {
    problems.push({ inside: node.start, message });
  };
  const visit = (value: unknown, chain?: string): void => {
    if (Array.isArray(value)) for (const part of value) visit(part);
    if (!isNode(value)) return;
    const { op, args }: { op: string; args: unknown } = value;
    const before = problems.length;
    const comparison = readComparison(value, schema);
    if (comparison !== undefined) checkComparison(comparison, value, schema, report);
    const group = groupAskedFor(value);
    if (group !== undefined && !/^S[A-Z0-9]{6,20}$/.test(group))
      report(value, `"${group}" is not the id of a user group, such as S034GHIJKL`);
    if (op === '&&' || op === '||' || op === '!_' || op === '?:') checkOperands(value, schema, report);
    if (op === 'rcall') checkMethod(args, schema, report);
    if (Array.isArray(args)) for (const part of args) visit(part, op);
    else visit(args);
    const isChain = (op === '&&' || op === '||') && chain !== op;
    if (isChain && problems.length === before) checkChain(value, op, schema, report);
  };
  visit(conditionEnvironment.parse(expression).ast);
  return problems;
}

/** Describes the type of an expression that is only one name of the input, if it is not one of those that are wanted. */
export function wrongResult(
  expression: string,
  schema: JsonObject,
  wanted: readonly ValueType[],
): string | undefined {
  if (!conditionEnvironment.check(expression).valid) return undefined;
  const domain = domainOf(conditionEnvironment.parse(expression).ast, schema);
  if (domain === undefined || wanted.includes(domain.type)) return undefined;
  return `${domain.name} is ${TYPE_WORDS[domain.type]}`;
}

/** Returns the one name that a condition compares with values that are written out; `undefined` for any other condition. */
export function comparedName(condition: string, schema: JsonObject | undefined): string | undefined {
  return parsePart(condition, schema)?.of;
}

/** Names a number between rules that no rule of a list is for; `undefined` if the rules are not all about one number. */
export function gapBetween(
  conditions: readonly string[],
  schema: JsonObject | undefined,
): string | undefined {
  const parts = conditions.map((condition) => parsePart(condition, schema));
  const known = parts.flatMap((part) => part ?? []);
  const [first] = known;
  if (first === undefined || known.length < Math.max(parts.length, 2)) return undefined;
  if (known.some(({ of }) => of !== first.of)) return undefined;
  const samples = samplesOf(known);
  const fits = (value: Value | undefined) =>
    value === undefined || known.some(({ isTrueFor }) => isTrueFor(value));
  const gap = samples.find((value) => !fits(value));
  // Below and above all limits there is often nothing meant.
  if (typeof gap !== 'number' || !fits(samples[0]) || !fits(samples.at(-1))) return undefined;
  return `${first.of} == ${gap}`;
}

/**
 * Tells whether one condition can only be true where the other is, as far as it is obvious: they are the same, the other is a part of it,
 * or both are about one number or text.
 */
export function impliesCondition(condition: string, other: string): boolean {
  if (![condition, other].every((text) => conditionEnvironment.check(text).valid)) return false;
  return implies(conditionEnvironment.parse(condition).ast, conditionEnvironment.parse(other).ast);
}

function implies(node: Node, other: Node): boolean {
  if (serialize(node) === serialize(other)) return true;
  if (node.op === '&&' && node.args.some((part) => implies(part, other))) return true;
  if (other.op === '||' && other.args.some((part) => implies(node, part))) return true;
  const [one, two] = [readPart(node, undefined), readPart(other, undefined)];
  if (one === undefined || two === undefined || one.of !== two.of) return false;
  return samplesOf([one, two]).every((value) => !one.isTrueFor(value) || two.isTrueFor(value));
}

/** Reads the type of a value from its JSON Schema; one that may have several types has none. */
export function schemaType(schema: JsonValue | undefined): ValueType | undefined {
  const types = new Map<JsonValue, ValueType>([
    ['integer', 'number'],
    ['number', 'number'],
    ['string', 'text'],
    ['boolean', 'boolean'],
    ['array', 'list'],
    ['object', 'mapping'],
  ]);
  return isJsonObject(schema) && schema.type !== undefined ? types.get(schema.type) : undefined;
}

/** Names the type of a value as messages do. */
export function typeInWords(type: ValueType): string {
  return TYPE_WORDS[type];
}

function domainOf(node: unknown, schema: JsonObject | undefined): Domain | undefined {
  if (!isNode(node)) return undefined;
  const known = node.op === 'id' || node.op === '.' ? OF_EVERY_CALL.get(serialize(node)) : undefined;
  if (known !== undefined) return known;
  const path = inputPath(node);
  const found = path === undefined || schema === undefined ? undefined : schemaAt(path, schema);
  const type = schemaType(found);
  if (found === undefined || type === undefined || path === undefined) return undefined;
  const name = ['input', ...path].join('.');
  const { enum: listed, minimum, maximum } = found;
  const values = Array.isArray(listed) && listed.every((value) => typeof value === 'string') ? listed : [];
  return {
    name,
    type,
    ...(values.length > 0 && { values: values.map(String) }),
    ...(typeof minimum === 'number' && { least: minimum }),
    ...(typeof maximum === 'number' && { most: maximum }),
    isWhole: found.type === 'integer',
  };
}

interface Literal {
  readonly node: Node;
  readonly value: string | number | boolean;
}

interface Comparison {
  readonly operator: string;
  readonly domain: Domain | undefined;
  readonly of: Node;
  readonly literals: readonly Literal[];
}

/** Reads a comparison of a name with values that are written out. */
function readComparison(node: Node, schema: JsonObject | undefined): Comparison | undefined {
  const { op, args }: { op: string; args: unknown } = node;
  if (!Array.isArray(args)) return undefined;
  const [left, right]: unknown[] = args;
  if (!isNode(left) || !isNode(right)) return undefined;
  if (op === 'in') {
    const items: unknown = right.op === 'list' ? right.args : undefined;
    const literals = Array.isArray(items) ? items.map(readLiteral) : [undefined];
    const written = literals.flatMap((literal) => literal ?? []);
    if (written.length !== literals.length || written.length === 0) return undefined;
    return { operator: op, domain: domainOf(left, schema), of: left, literals: written };
  }
  const flipped = FLIPPED.get(op);
  if (flipped === undefined) return undefined;
  const [onLeft, onRight] = [readLiteral(left), readLiteral(right)];
  if (onRight !== undefined && onLeft === undefined)
    return { operator: op, domain: domainOf(left, schema), of: left, literals: [onRight] };
  if (onLeft === undefined || onRight !== undefined) return undefined;
  return { operator: flipped, domain: domainOf(right, schema), of: right, literals: [onLeft] };
}

function readLiteral(node: unknown): Literal | undefined {
  if (!isNode(node)) return undefined;
  const { op, args }: { op: string; args: unknown } = node;
  if (op === '-_') {
    const inner = readLiteral(args);
    return typeof inner?.value === 'number' ? { node, value: -inner.value } : undefined;
  }
  if (op !== 'value') return undefined;
  if (typeof args === 'bigint') return { node, value: Number(args) };
  const isPlain = typeof args === 'string' || typeof args === 'number' || typeof args === 'boolean';
  return isPlain ? { node, value: args } : undefined;
}

type Report = (node: Node, message: string) => void;

function checkComparison(
  { operator, domain, literals }: Comparison,
  whole: Node,
  schema: JsonObject | undefined,
  report: Report,
): void {
  if (domain === undefined) return;
  const { name, type, values, form } = domain;
  for (const { node, value } of literals) {
    const given = typeOfLiteral(value);
    if (given !== type) {
      const shown = typeof value === 'string' ? `'${value}'` : String(value);
      const isNumber = type === 'number' && typeof value === 'string' && Number.isFinite(Number(value));
      const advice = isNumber ? '; write it without quotes' : '';
      report(node, `${name} is ${TYPE_WORDS[type]}, but ${shown} is ${TYPE_WORDS[given]}${advice}`);
      return;
    }
    if (typeof value !== 'string' || !['==', '!=', 'in'].includes(operator)) continue;
    if (values !== undefined && !values.includes(value))
      report(node, `${name} is one of ${values.join(', ')}, and never "${value}"${meantBy(value, values)}`);
    if (form !== undefined && !form[0].test(value)) report(node, `${name} ${form[1]}, and never "${value}"`);
  }
  checkRange(domain, whole, schema, report);
}

/** Suggests a value that begins alike, or the nearest one. */
function meantBy(written: string, values: readonly string[]): string {
  const longer = values.find((value) => written.length > 2 && value.startsWith(written.toLowerCase()));
  return longer === undefined ? didYouMean(written, values) : `; did you mean "${longer}"?`;
}

function typeOfLiteral(value: Literal['value']): ValueType {
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : 'boolean';
}

function checkRange(
  { name, least, most }: Domain,
  node: Node,
  schema: JsonObject | undefined,
  report: Report,
): void {
  const part = readPart(node, schema);
  if (part === undefined || (least === undefined && most === undefined)) return;
  const above = least === undefined ? '' : `at least ${least}`;
  const span = most === undefined ? above : `${least === undefined ? 'at most' : `from ${least} to`} ${most}`;
  const truths = samplesOf([part]).map(part.isTrueFor);
  if (!truths.includes(true)) report(node, `${name} is ${span}, so this is never true`);
  // What the schema of an input says may be said again in a rule.
  else if (name.startsWith('now.') && !truths.includes(false))
    report(node, `${name} is ${span}, so this is always true`);
}

function checkOperands(node: Node, schema: JsonObject | undefined, report: Report): void {
  const { op, args }: { op: string; args: unknown } = node;
  const operands: readonly unknown[] = Array.isArray(args) ? (op === '?:' ? args.slice(0, 1) : args) : [args];
  for (const operand of operands) {
    const domain = domainOf(operand, schema);
    if (!isNode(operand) || domain === undefined || domain.type === 'boolean') continue;
    const sign = op === '!_' ? '!' : op;
    report(
      operand,
      `${domain.name} is ${TYPE_WORDS[domain.type]}, and ${sign} is for conditions; compare it with a value`,
    );
  }
}

function checkMethod(args: unknown, schema: JsonObject | undefined, report: Report): void {
  const [method, receiver]: unknown[] = Array.isArray(args) ? args : [];
  const domain = domainOf(receiver, schema);
  if (!isNode(receiver) || domain === undefined || domain.type === 'text') return;
  if (TEXT_METHODS.includes(String(method)))
    report(receiver, `${domain.name} is ${TYPE_WORDS[domain.type]}, and ${String(method)} is for text`);
}

/** Finds parts of `a && b` that exclude each other, and parts of `a || b` one of which is always true. */
function checkChain(node: Node, op: '&&' | '||', schema: JsonObject | undefined, report: Report): void {
  const parts = flatten(node, op).flatMap((part) => readPart(part, schema) ?? []);
  for (const name of new Set(parts.map(({ of }) => of))) {
    const own = parts.filter(({ of }) => of === name);
    if (own.length < 2) continue;
    const samples = samplesOf(own);
    const said = own.map(({ text }) => text).join(' and ');
    if (op === '&&' && !samples.some((value) => own.every(({ isTrueFor }) => isTrueFor(value))))
      report(node, `this can never be true: ${said} exclude each other; is || meant?`);
    if (op === '||' && samples.every((value) => own.some(({ isTrueFor }) => isTrueFor(value))))
      report(node, `this is always true: one of ${said} always is; write && if both must be`);
  }
}

function flatten(node: Node, op: string): Node[] {
  const { args }: { args: unknown } = node;
  if (String(node.op) !== op || !Array.isArray(args)) return [node];
  return args.filter(isNode).flatMap((part) => flatten(part, op));
}

type Value = Literal['value'];

/** A part of a condition that compares one name with values that are written out. */
interface Part {
  readonly of: string;
  readonly text: string;
  readonly domain: Domain | undefined;
  readonly literals: readonly Value[];
  isTrueFor(value: Value): boolean;
}

function parsePart(condition: string, schema: JsonObject | undefined): Part | undefined {
  if (!conditionEnvironment.check(condition).valid) return undefined;
  return readPart(conditionEnvironment.parse(condition).ast, schema);
}

function readPart(node: Node, schema: JsonObject | undefined): Part | undefined {
  const { op, args }: { op: string; args: unknown } = node;
  if ((op === '&&' || op === '||') && Array.isArray(args)) {
    const [left, right] = args.map((part) => (isNode(part) ? readPart(part, schema) : undefined));
    if (left === undefined || right === undefined || left.of !== right.of) return undefined;
    return {
      ...left,
      text: serialize(node),
      literals: [...left.literals, ...right.literals],
      isTrueFor: (value) =>
        op === '&&'
          ? left.isTrueFor(value) && right.isTrueFor(value)
          : left.isTrueFor(value) || right.isTrueFor(value),
    };
  }
  const comparison = readComparison(node, schema);
  if (comparison === undefined) return undefined;
  const { operator, domain, of } = comparison;
  const literals = comparison.literals.map(({ value }) => value);
  // Between two texts in an order there are others.
  if (/[<>]/.test(operator) && literals.some((value) => typeof value !== 'number')) return undefined;
  return {
    of: serialize(of),
    text: serialize(node),
    domain,
    literals,
    isTrueFor: (value) => literals.some((literal) => COMPARE[operator]?.(value, literal)),
  };
}

const COMPARE: Readonly<Record<string, (value: Value, literal: Value) => boolean>> = {
  '<': (value, literal) => value < literal,
  '<=': (value, literal) => value <= literal,
  '>': (value, literal) => value > literal,
  '>=': (value, literal) => value >= literal,
  '==': (value, literal) => value === literal,
  '!=': (value, literal) => value !== literal,
  in: (value, literal) => value === literal,
};

/** Lists values for which parts about one name can differ: the numbers they name, those around them, and for texts any other one. */
function samplesOf(parts: readonly Part[]): readonly Value[] {
  const literals = parts.flatMap((part) => part.literals);
  const numbers = literals.filter((value) => typeof value === 'number').sort((left, right) => left - right);
  if (numbers.length < literals.length) return [...literals, 'any other text'];
  const { isWhole = false, least = -Infinity, most = Infinity } = parts[0]?.domain ?? {};
  const around = numbers.flatMap((number, index) =>
    isWhole
      ? [Math.ceil(number) - 1, number, Math.floor(number) + 1]
      : [number, (number + (numbers[index + 1] ?? number + 2)) / 2],
  );
  return [(numbers[0] ?? 0) - 1, ...around].filter(
    (value) => value >= least && value <= most && (!isWhole || Number.isInteger(value)),
  );
}
