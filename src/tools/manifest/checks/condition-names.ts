import { isJsonObject, type JsonObject } from '../../../agent/json.ts';
import { conditionEnvironment } from '../../gate/condition.ts';
import { didYouMean } from './nearest-word.ts';

export interface ConditionProblem {
  /** The offset of the mistake in the expression. */
  readonly inside: number;
  readonly message: string;
}

type Node = ReturnType<typeof conditionEnvironment.parse>['ast'];

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

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** Returns the names of `input.a.b` or `input["a"]`; `undefined` for anything else. */
function inputPath(node: Node): readonly string[] | undefined {
  const { op, args }: { op: string; args: unknown } = node;
  if (op === 'id') return args === 'input' ? [] : undefined;
  if (!['.', '.?', '[]'].includes(op) || !Array.isArray(args)) return undefined;
  const [of, key]: unknown[] = args;
  const before = isNode(of) ? inputPath(of) : undefined;
  const name = isNode(key) && String(key.op) === 'value' ? key.args : key;
  return before === undefined || typeof name !== 'string' ? undefined : [...before, name];
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
function isOpen(schema: JsonObject): boolean {
  const { additionalProperties: others } = schema;
  const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'if'];
  return others === true || isJsonObject(others) || combining.some((key) => schema[key] !== undefined);
}
