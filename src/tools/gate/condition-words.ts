import { serialize } from '@marcbachmann/cel-js';
import { conditionEnvironment } from './condition.ts';

type Node = ReturnType<typeof conditionEnvironment.parse>['ast'];

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
  ['context_authors', 'the authors of the context'],
  ['channel', 'the channel'],
  ['tool', 'the tool'],
  ['now.hour', 'the hour'],
  ['now.minute', 'the minute'],
  ['now.weekday', 'the weekday'],
  ['now.date', 'the date'],
]);

/** Says a condition in words, as far as they are known; any other part is quoted as it is written. */
export function conditionInWords(condition: string): string {
  return conditionEnvironment.check(condition).valid
    ? say(conditionEnvironment.parse(condition).ast)
    : `"${condition}"`;
}

function say(node: Node): string {
  const { op, args }: { op: string; args: unknown } = node;
  if (node.op === '&&') return node.args.map((part) => sayPart(part, '||')).join(' and ');
  if (node.op === '||') return node.args.map((part) => sayPart(part, '&&')).join(' or ');
  const comparison = COMPARISONS.get(op);
  if (comparison !== undefined && Array.isArray(args)) {
    const [left, right]: Node[] = args;
    const words = left && right && [nameOf(left), sayValue(right)];
    if (words?.every((word) => word !== undefined)) return words.join(` ${comparison} `);
  }
  const flag = nameOf(node);
  if (flag !== undefined) return `${flag} is true`;
  const denied = node.op === '!_' ? nameOf(node.args) : undefined;
  return denied === undefined ? `"${serialize(node)}"` : `${denied} is not true`;
}

/** Puts a part into brackets where the words alone would leave open what belongs together. */
function sayPart(node: Node, other: '&&' | '||'): string {
  return node.op === other ? `(${say(node)})` : say(node);
}

/** Names a variable, or a field of the input by its path; `undefined` for anything else. */
function nameOf(node: Node): string | undefined {
  const path = pathOf(node)?.join('.');
  if (path === undefined) return undefined;
  const known = VARIABLES.get(path);
  if (known !== undefined) return known;
  const [, field] = /^input\.(.+)$/.exec(path) ?? [];
  return field === undefined ? undefined : `"${field}"`;
}

function pathOf(node: Node): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const [of, name] = node.args;
  const before = pathOf(of);
  return before === undefined ? undefined : [...before, name];
}

function sayValue(node: Node): string | undefined {
  if (node.op === 'list') {
    const items = node.args.map(sayValue);
    return items.some((item) => item === undefined) ? undefined : items.join(', ');
  }
  if (node.op === '-_') {
    const number = sayValue(node.args);
    return number === undefined ? undefined : `-${number}`;
  }
  if (node.op === 'value') return typeof node.args === 'string' ? `"${node.args}"` : String(node.args);
  return nameOf(node);
}
