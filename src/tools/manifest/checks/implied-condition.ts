import { serialize } from '@marcbachmann/cel-js';
import { conditionEnvironment } from '../../gate/condition.ts';

type Node = ReturnType<typeof conditionEnvironment.parse>['ast'];

/**
 * Tells whether one condition can only be true where the other is true as well, as far as the form of both shows it: equal parts, `&&`,
 * `||`, and comparisons of the same value with numbers. A condition that does not parse implies nothing.
 */
export function impliesCondition(condition: string, other: string): boolean {
  if (!isReadable(condition) || !isReadable(other)) return false;
  return implies(conditionEnvironment.parse(condition).ast, conditionEnvironment.parse(other).ast);
}

/** Returns the value of a condition that is only a constant. */
export function constantCondition(condition: string): boolean | undefined {
  if (!isReadable(condition)) return undefined;
  const { op, args } = conditionEnvironment.parse(condition).ast;
  return op === 'value' && typeof args === 'boolean' ? args : undefined;
}

function isReadable(condition: string): boolean {
  return conditionEnvironment.check(condition).valid;
}

function implies(node: Node, other: Node): boolean {
  if (serialize(node) === serialize(other)) return true;
  if (other.op === '&&') return other.args.every((part) => implies(node, part));
  if (node.op === '||') return node.args.every((part) => implies(part, other));
  if (other.op === '||' && other.args.some((part) => implies(node, part))) return true;
  if (node.op === '&&') return node.args.some((part) => implies(part, other));
  const [left, right] = [readComparison(node), readComparison(other)];
  return left !== undefined && right !== undefined && left.of === right.of && isWithin(left, right);
}

/** A comparison of a value with a number, such as `input.amount > 100`. */
interface Comparison {
  readonly of: string;
  readonly operator: string;
  readonly number: number;
}

function readComparison(node: Node): Comparison | undefined {
  const { op, args }: { op: string; args: unknown } = node;
  if (!['>', '>=', '<', '<=', '=='].includes(op) || !Array.isArray(args)) return undefined;
  const [of, to]: Node[] = args;
  if (of === undefined || to === undefined) return undefined;
  const number = readNumber(to);
  return number === undefined ? undefined : { of: serialize(of), operator: op, number };
}

function readNumber({ op, args }: Node): number | undefined {
  if (op === '-_') {
    const number = readNumber(args);
    return number === undefined ? undefined : -number;
  }
  return op === 'value' && (typeof args === 'number' || typeof args === 'bigint') ? Number(args) : undefined;
}

/** Tells whether every number that fits the first comparison fits the second. */
function isWithin(inner: Comparison, outer: Comparison): boolean {
  const { number } = inner;
  if (inner.operator === '==') return fits(number, outer);
  if (inner.operator[0] !== outer.operator[0]) return false;
  const isStricter = inner.operator.length < outer.operator.length || inner.operator === outer.operator;
  if (number === outer.number) return isStricter;
  return fits(number, outer);
}

function fits(number: number, { operator, number: limit }: Comparison): boolean {
  switch (operator) {
    case '>':
      return number > limit;
    case '>=':
      return number >= limit;
    case '<':
      return number < limit;
    case '<=':
      return number <= limit;
    default:
      return number === limit;
  }
}
