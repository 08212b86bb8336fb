import { Environment, serialize } from '@marcbachmann/cel-js';
import { describeError } from '../agent/errors.ts';
import { type JsonValue, toJson } from '../agent/json.ts';
import { re2Pattern } from '../agent/util/pattern.ts';
import type { FirstOf } from './first-times.ts';
import type { Reversible } from './reversible.ts';
import { localTime } from './time.ts';

/** The used part of each limit, by its name. */
export type LimitTotals = ReadonlyMap<string, { readonly count: number; readonly sum: number }>;

/** Returns the user groups of a person; `undefined` if nobody can tell now. */
export type GroupsOf = (person: string) => readonly string[] | undefined;

/** The profile of a person. */
export interface Profile {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** Returns the profile of a person; `undefined` if there is none, or nobody can tell now. */
export type ProfileOf = (person: string) => Profile | undefined;

/** Gives everyone the same profile, as an example says it. */
export function profileGiven({ email, name }: Profile): ProfileOf {
  return () => ({ email, name });
}

/** The variables of a condition. */
export interface ConditionInput {
  readonly input: JsonValue;
  readonly requester: string;
  readonly requesters?: readonly string[];
  readonly contextAuthors?: readonly string[];
  readonly channel: string;
  readonly tool: string;
  /** The output of a tool that only reads; only the conditions of freezes ask. */
  readonly output?: JsonValue | undefined;
  /** Whether people have approved the call; only the conditions of limits ask. */
  readonly approved?: boolean | undefined;
  /** The value of `tool.reversible`; a condition that asks for it where it is not known cannot be evaluated. */
  readonly reversible?: Reversible | undefined;
  /** The time of the call; this moment if it is left out. */
  readonly now?: Date | undefined;
  /** The time zone of `now`; UTC if it is left out. */
  readonly timeZone?: string | undefined;
  /** The totals that `count` and `sum` see; a condition that asks for a limit without its total cannot be evaluated. */
  readonly totals?: LimitTotals | undefined;
  /** The groups that `requester.groups` sees; a condition that asks for groups that are not known cannot be evaluated. */
  readonly groupsOf?: GroupsOf | undefined;
  /** The profiles that `requester.email` and `requester.name` see; a condition that asks for what is not known cannot be evaluated. */
  readonly profileOf?: ProfileOf | undefined;
  /** The first times that `first` sees; a condition that asks for some that are not known cannot be evaluated. */
  readonly firstOf?: FirstOf | undefined;
}

/** A call with everyone whose words led to it. */
export interface JudgedCall extends Omit<ConditionInput, 'requester'> {
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
}

/** A compiled condition; an error means that it could not be evaluated. */
type Condition = (values: ConditionInput) => boolean | { readonly error: string };

/** Stands for `requester.groups`. */
const REQUESTER_GROUPS = 'requester_groups';
/** Stand for `requester.email` and `requester.name`. */
const REQUESTER_EMAIL = 'requester_email';
const REQUESTER_NAME = 'requester_name';
/** Stands for `tool.reversible`. */
export const TOOL_REVERSIBLE = 'tool_reversible';

// A condition is evaluated in one go, so its functions find the totals of its call here.
let totalsNow: LimitTotals | undefined;

function totalOf(name: string): { readonly count: number; readonly sum: number } {
  const total = totalsNow?.get(name);
  if (total === undefined) throw new Error(`nothing is known about the limit "${name}" here`);
  return total;
}

/** Declares the variables of every condition with their types. */
const environment = new Environment()
  .registerVariable('input', 'dyn')
  .registerVariable('requester', 'string')
  .registerVariable(REQUESTER_GROUPS, 'list<string>')
  .registerVariable(REQUESTER_EMAIL, 'string')
  .registerVariable(REQUESTER_NAME, 'string')
  .registerVariable('requesters', 'list<string>')
  .registerVariable('context_authors', 'list<string>')
  .registerVariable('channel', 'string')
  .registerVariable('approved', 'bool')
  .registerVariable('output', 'dyn')
  .registerVariable('tool', 'string')
  .registerVariable(TOOL_REVERSIBLE, 'string')
  .registerVariable('first', { schema: { tool: 'bool', target: 'bool', pair: 'bool' } })
  .registerVariable('now', {
    schema: { date: 'string', weekday: 'string', hour: 'int', minute: 'int' },
  })
  .registerFunction('count(string): int', (name: string) => BigInt(totalOf(name).count))
  .registerFunction('sum(string): double', (name: string) => totalOf(name).sum)
  .registerFunction('string.matchesInLinearTime(string): bool', (text: string, pattern: string) =>
    re2Pattern(pattern).test(text),
  )
  .registerFunction('string.lowerAsciiOnly(): string', (text: string) =>
    text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  )
  .registerFunction('string.upperAsciiOnly(): string', (text: string) =>
    text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  )
  .registerFunction('string.trimWhiteSpace(): string', (text: string) =>
    text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, ''),
  );

/** Reads conditions in which `requester`, a text, also has `groups`, `email` and `name`, and `tool` has `reversible`. */
export const conditionEnvironment = {
  parse: (expression: string) => environment.parse(withVariables(expression)),
  check: (expression: string) => environment.check(withVariables(expression)),
};

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['requester.groups', REQUESTER_GROUPS],
  ['requester.email', REQUESTER_EMAIL],
  ['requester.name', REQUESTER_NAME],
  ['tool.reversible', TOOL_REVERSIBLE],
]);

/** Replaces the members of texts outside of quotes by their variables, which are as long, so that every place stays where it is. */
function withVariables(expression: string): string {
  return expression.replace(
    /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<![\w.])(?:requester\.(?:groups|email|name)|tool\.reversible)\b/g,
    (found) => MEMBERS.get(found) ?? found,
  );
}

/** Writes a part of a condition as the manifest does. */
function asWritten(text: string): string {
  return [...MEMBERS].reduce((found, [member, variable]) => found.replaceAll(variable, member), text);
}

/** Lists the user groups that a condition asks for by id. */
export function groupsNamedIn(expression: string): readonly string[] {
  if (!conditionEnvironment.check(expression).valid) return [];
  return nodesIn(expression).flatMap((node) => groupAskedFor(node) ?? []);
}

/** Tells whether an expression uses the user groups of the requester. */
export function usesGroups(expression: string): boolean {
  return withVariables(expression).includes(REQUESTER_GROUPS);
}

/** Lists what an expression asks of the profile of the requester. */
export function profileAskedFor(expression: string): readonly ('email' | 'name')[] {
  const used = withVariables(expression);
  return (['email', 'name'] as const).filter((part) =>
    used.includes({ email: REQUESTER_EMAIL, name: REQUESTER_NAME }[part]),
  );
}

/** Returns where an expression uses a variable that only some conditions have; -1 if it does not. */
export function placeOfVariable(expression: string, name: 'approved' | 'output'): number {
  return expression.search(new RegExp(`(?<![\\w."'])${name}\\b`));
}

/** Tells whether an expression asks for first times. */
export function usesFirst(expression: string): boolean {
  return /(?<![\w."'])first\b/.test(expression);
}

/** Returns the group of `'S…' in requester.groups`; `undefined` for anything else. */
export function groupAskedFor(node: Node): string | undefined {
  if (node.op !== 'in') return undefined;
  const [group, list] = node.args;
  const id = literalOf(group);
  return list.op === 'id' && list.args === REQUESTER_GROUPS && typeof id === 'string' ? id : undefined;
}

/**
 * The methods of the library that we replace, and by what. Its `matches` is a regular expression of JavaScript, and one such call could
 * hold the whole process; the others also change letters and spaces that CEL leaves alone.
 */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ['matches', 'matchesInLinearTime'],
  ['lowerAscii', 'lowerAsciiOnly'],
  ['upperAscii', 'upperAsciiOnly'],
  ['trim', 'trimWhiteSpace'],
]);

/** Compiles a condition; one that does not compile throws. */
export function compileCondition(expression: string): Condition {
  const evaluate = compileExpression(expression);
  return (values) => {
    const result = evaluate(values);
    if ('error' in result) return result;
    return typeof result.value === 'boolean' ? result.value : { error: 'it is neither true nor false' };
  };
}

/** Compiles a CEL expression of any type; one that does not compile throws. */
export function compileExpression(
  expression: string,
): (values: ConditionInput) => { readonly value: unknown } | { readonly error: string } {
  const evaluate = conditionEnvironment.parse(withOwnMethods(expression));
  const isTimed = /\bnow\b/.test(expression);
  const isGrouped = usesGroups(expression);
  const isFirst = usesFirst(expression);
  const asked = profileAskedFor(expression);
  return ({
    requesters,
    contextAuthors = [],
    now = new Date(),
    timeZone = 'UTC',
    totals,
    groupsOf,
    profileOf,
    firstOf,
    reversible,
    approved,
    output,
    ...values
  }) => {
    const groups = isGrouped ? groupsOf?.(values.requester) : undefined;
    const first = isFirst ? firstOf?.(values.requester) : undefined;
    const { email, name } = (asked.length > 0 && profileOf?.(values.requester)) || {};
    const others = {
      requesters: [...(requesters ?? [values.requester])],
      context_authors: [...contextAuthors],
      ...(groups !== undefined && { [REQUESTER_GROUPS]: [...groups] }),
      ...(approved !== undefined && { approved }),
      ...(output !== undefined && { output }),
      ...(reversible !== undefined && { [TOOL_REVERSIBLE]: reversible }),
      ...(first !== undefined && { first: { ...first } }),
      // Addresses are the same in capitals and small letters.
      ...(email !== undefined && { [REQUESTER_EMAIL]: email.toLowerCase() }),
      ...(name !== undefined && { [REQUESTER_NAME]: name }),
    };
    try {
      totalsNow = totals;
      const value: unknown = evaluate({
        ...values,
        ...others,
        ...(isTimed && { now: localTime(now, timeZone) }),
      });
      return { value };
    } catch (error) {
      const [firstLine = ''] = describeError(error).split('\n');
      if (isGrouped && groups === undefined) return { error: "the requester's user groups are not known" };
      if (asked.includes('email') && email === undefined)
        return { error: "the requester's email address is not known" };
      if (asked.includes('name') && name === undefined) return { error: "the requester's name is not known" };
      if (isFirst && first === undefined) return { error: 'it is not known whether this is a first time' };
      return { error: firstLine };
    }
  };
}

/** A call of a method in an expression. */
export interface MethodCall {
  readonly name: string;
  readonly start: number;
  /** Its first argument, if that is a text that is written out. */
  readonly text: string | undefined;
}

/** A node of a parsed condition. */
export type Node = ReturnType<typeof conditionEnvironment.parse>['ast'];

export function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && 'op' in part && 'args' in part;
}

/** Lists the nodes of an expression that can be parsed. */
function nodesIn(expression: string): Node[] {
  const found: Node[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) for (const entry of part) visit(entry);
    if (!isNode(part)) return;
    found.push(part);
    visit(part.args);
  };
  visit(conditionEnvironment.parse(expression).ast);
  return found;
}

/** Lists the calls of methods that we replace, in an expression that can be parsed. */
export function methodCalls(expression: string): MethodCall[] {
  return nodesIn(expression).flatMap((node) => {
    if (node.op !== 'rcall') return [];
    const [name, of, [first]] = node.args;
    if (!REPLACED.has(name)) return [];
    const written: unknown = first?.op === 'value' ? first.args : undefined;
    const start = expression.indexOf(name, of.end);
    return [{ name, start, text: typeof written === 'string' ? written : undefined }];
  });
}

/** A part of an expression that would not mean what it says. */
export interface InexactPart {
  readonly start: number;
  readonly problem: string;
}

/** Finds a part that the library does not compute as CEL defines it: unsigned numbers with `in`, and bytes that are not ASCII. */
export function findInexact(expression: string): InexactPart | undefined {
  const nodes = nodesIn(expression);
  const isSearched = nodes.some(({ op }) => op === 'in');
  for (const { op, args, start, end } of nodes) {
    const isUnsigned = op === 'call' ? args[0] === 'uint' : op === 'value' && isObject(args);
    if (isUnsigned && isSearched)
      return { start, problem: '"in" does not find unsigned numbers; write 3 instead of 3u' };
    if (args instanceof Uint8Array && /[^\x20-\x7e]/.test(expression.slice(start, end)))
      return { start, problem: 'write bytes that are not ASCII as escapes, such as \\xff' };
  }
  return undefined;
}

/** Of the values that can be written out, only unsigned numbers and bytes are objects. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

function withOwnMethods(expression: string): string {
  const inexact = findInexact(expression);
  if (inexact !== undefined) throw new Error(inexact.problem);
  const replaced = methodCalls(expression)
    .sort((left, right) => right.start - left.start)
    .reduce(
      (text, { name, start }) =>
        `${text.slice(0, start)}${REPLACED.get(name)}${text.slice(start + name.length)}`,
      expression,
    );
  const [missed] = methodCalls(replaced);
  if (missed !== undefined) throw new Error(`a comment must not stand before "${missed.name}"`);
  return replaced;
}

const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['>', 'is more than'],
  ['>=', 'is at least'],
  ['<', 'is less than'],
  ['<=', 'is at most'],
  ['==', 'is'],
  ['!=', 'is not'],
  ['in', 'is one of'],
]);
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ['requester', 'the requester'],
  ['requesters', 'the requesters'],
  [REQUESTER_GROUPS, "the requester's user groups"],
  [REQUESTER_EMAIL, "the requester's email address"],
  [REQUESTER_NAME, "the requester's name"],
  ['context_authors', 'the authors of the context'],
  ['channel', 'the channel'],
  ['approved', 'people have approved it'],
  ['tool', 'the tool'],
  [TOOL_REVERSIBLE, 'whether it can be undone'],
  ['now.hour', 'the hour'],
  ['now.minute', 'the minute'],
  ['now.weekday', 'the weekday'],
  ['now.date', 'the date'],
]);

/** The words for the inputs of a call, as its card has them. */
export interface InputWords {
  /** Labels an input, given by its path. */
  label(path: readonly string[]): string | undefined;
  /** Writes a value as the card writes that input. */
  write(path: readonly string[], value: JsonValue): string | undefined;
}

const AS_WRITTEN: InputWords = { label: () => undefined, write: () => undefined };

/** Says a condition in words, as far as they are known; any other part is quoted as it is written. */
export function conditionInWords(condition: string, inputs: InputWords = AS_WRITTEN): string {
  return conditionEnvironment.check(condition).valid
    ? say(conditionEnvironment.parse(condition).ast, inputs)
    : `"${condition}"`;
}

function say(node: Node, inputs: InputWords): string {
  const { op, args }: { op: string; args: unknown } = node;
  const group = groupAskedFor(node);
  if (group !== undefined) return `the requester is in the user group ${group}`;
  const other = node.op === '!_' ? groupAskedFor(node.args) : undefined;
  if (other !== undefined) return `the requester is not in the user group ${other}`;
  const reversible = sayReversible(node);
  if (reversible !== undefined) return reversible;
  if (node.op === '&&') return node.args.map((part) => sayPart(part, '||', inputs)).join(' and ');
  if (node.op === '||') return node.args.map((part) => sayPart(part, '&&', inputs)).join(' or ');
  const comparison = COMPARISONS.get(op);
  if (comparison !== undefined && Array.isArray(args)) {
    const [left, right]: Node[] = args;
    const written = left && inputPath(left);
    const words = left && right && [nameOf(left, inputs), sayValue(right, inputs, written)];
    if (words?.every((word) => word !== undefined)) return words.join(` ${comparison} `);
  }
  const first = FIRST_WORDS.get(pathOf(node)?.join('.') ?? '');
  if (first !== undefined) return `it is ${first}`;
  const later = node.op === '!_' ? FIRST_WORDS.get(pathOf(node.args)?.join('.') ?? '') : undefined;
  if (later !== undefined) return `it is not ${later}`;
  const flag = nameOf(node, inputs);
  if (flag !== undefined) return `${flag} is true`;
  const denied = node.op === '!_' ? nameOf(node.args, inputs) : undefined;
  if (denied !== undefined) return `${denied} is not true`;
  return `"${asWritten(serialize(node))}"`;
}

const FIRST_WORDS: ReadonlyMap<string, string> = new Map([
  ['first.tool', "the requester's first call of this tool"],
  ['first.target', 'the first call of this tool for this target'],
  ['first.pair', "the requester's first call of this tool for this target"],
]);

const REVERSIBLE_WORDS: ReadonlyMap<string, string> = new Map([
  ['== yes', 'it can be undone at any time'],
  ['!= yes', "it can't be undone at any time"],
  ['== undo', 'it can be undone for a while'],
  ['!= undo', "it can't be undone for a while"],
  ['== no', "it can't be undone"],
  ['!= no', 'it can be undone'],
]);

/** Says a comparison of `tool.reversible` with one of its values. */
function sayReversible(node: Node): string | undefined {
  if (node.op !== '==' && node.op !== '!=') return undefined;
  const [left, right] = node.args;
  const value = pathOf(left)?.join('.') === TOOL_REVERSIBLE ? literalOf(right) : undefined;
  return REVERSIBLE_WORDS.get(`${node.op} ${String(value)}`);
}

/** Puts a part into brackets where the words alone would leave open what belongs together. */
function sayPart(node: Node, other: '&&' | '||', inputs: InputWords): string {
  return node.op === other ? `(${say(node, inputs)})` : say(node, inputs);
}

/** Names a variable, or a field of the input by its path; `undefined` for anything else. */
function nameOf(node: Node, inputs: InputWords): string | undefined {
  const path = inputPath(node);
  if (path !== undefined) return inputs.label(path) ?? `"${path.join('.')}"`;
  return VARIABLES.get(pathOf(node)?.join('.') ?? '');
}

function inputPath(node: Node): readonly string[] | undefined {
  const [root, ...path] = pathOf(node) ?? [];
  return root === 'input' && path.length > 0 ? path : undefined;
}

function pathOf(node: Node): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const [of, name] = node.args;
  const before = pathOf(of);
  return before === undefined ? undefined : [...before, name];
}

function sayValue(node: Node, inputs: InputWords, of: readonly string[] = []): string | undefined {
  if (node.op === 'list') {
    const items = node.args.map((item) => sayValue(item, inputs, of));
    return items.some((item) => item === undefined) ? undefined : items.join(', ');
  }
  const value = literalOf(node);
  if (value === undefined) return nameOf(node, inputs);
  const written = of.length === 0 ? undefined : inputs.write(of, value);
  return written ?? (typeof value === 'string' ? `"${value}"` : String(value));
}

/** Returns a value that is written out in a condition. */
function literalOf(node: Node): JsonValue | undefined {
  if (node.op === '-_') {
    const value = literalOf(node.args);
    return typeof value === 'number' ? -value : undefined;
  }
  if (node.op !== 'value') return undefined;
  const value: unknown = node.args;
  if (typeof value === 'bigint') return Number(value);
  return value === null || ['string', 'number', 'boolean'].includes(typeof value) ? toJson(value) : undefined;
}
