import type { z } from 'zod';
import { badRequest, type RequestProblem } from './request-problem.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Describes a schema error with OpenAI's wording and parameter path. */
export function describeIssue(issue: Issue, body: unknown): RequestProblem {
  const param = pathName(issue.path);
  const value = valueAt(body, issue.path);
  // OpenAI reports this one from a later check, with another wording and path.
  if (value === null && issue.path.at(-1) === 'content') return nullContent(issue.path.at(-2));
  if (value === undefined) {
    return badRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(param, expectedNames[issue.expected] ?? issue.expected, value);
    case 'too_small':
      return outOfBounds(param, issue.origin, issue.minimum, value, 'minimum');
    case 'too_big':
      return outOfBounds(param, issue.origin, issue.maximum, value, 'maximum');
    case 'invalid_format':
      return badRequest(
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern ` +
          `'${issue.pattern?.slice(1, -1)}'.`,
        param,
        'invalid_value',
      );
    case 'invalid_value':
      return unsupportedValue(param, value, issue.values);
    case 'unrecognized_keys': {
      const unknown = pathName([...issue.path, issue.keys[0] ?? '']);
      return badRequest(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter');
    }
    case 'invalid_union': {
      if (issue.inclusive !== false && issue.discriminator !== undefined) {
        return unsupportedValue(param, value, issue.options ?? []);
      }
      const issues = issue.errors.flat();
      // The branch that got furthest is the one that was meant.
      const inner =
        issues.find(({ path }) => path.length > 0) ?? issues.find(({ code }) => code !== 'invalid_type');
      if (inner !== undefined) return describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, body);
      return wrongType(param, 'one of a string or array of objects', value);
    }
    default:
      return badRequest(`Invalid '${param}': ${issue.message}.`, param, 'invalid_value');
  }
}

/** The refusal of a message without content, worded and addressed as OpenAI does. */
export function nullContent(index: PropertyKey | undefined): RequestProblem {
  return badRequest(
    "Invalid value for 'content': expected a string, got null.",
    `messages.[${String(index)}].content`,
  );
}

const expectedNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a decimal',
  int: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  record: 'an object',
  array: 'an array of objects',
};

function wrongType(param: string, expected: string, value: unknown): RequestProblem {
  return badRequest(
    `Invalid type for '${param}': expected ${expected}, but got ${nameOfType(value)} instead.`,
    param,
    'invalid_type',
  );
}

function unsupportedValue(param: string, value: unknown, supported: readonly unknown[]): RequestProblem {
  if (typeof value !== 'string') return wrongType(param, 'a string', value);
  const quoted = supported.map((one) => `'${String(one)}'`);
  const last = quoted.pop();
  const list = quoted.length === 0 ? last : `${quoted.join(', ')}, and ${last}`;
  return badRequest(`Invalid value: '${value}'. Supported values are: ${list}.`, param, 'invalid_value');
}

function outOfBounds(
  param: string,
  origin: string,
  bound: number | bigint,
  value: unknown,
  side: 'minimum' | 'maximum',
): RequestProblem {
  if (origin !== 'array' && origin !== 'string') {
    const kind = origin === 'int' || Number.isInteger(value) ? 'integer' : 'decimal';
    const [where, sign, code] = side === 'minimum' ? ['below', '>=', 'min'] : ['above', '<=', 'max'];
    return badRequest(
      `Invalid '${param}': ${kind} ${where} ${side} value. Expected a value ${sign} ${bound}, but got ${String(value)} instead.`,
      param,
      `${kind}_${where}_${code}_value`,
    );
  }
  const article = origin === 'array' ? 'an' : 'a';
  if (side === 'minimum') {
    return badRequest(
      `Invalid '${param}': empty ${origin}. Expected ${article} ${origin} with minimum length ${bound}, but got an empty ${origin} instead.`,
      param,
      `empty_${origin}`,
    );
  }
  const length = Array.isArray(value) || typeof value === 'string' ? value.length : 0;
  return badRequest(
    `Invalid '${param}': ${origin} too long. Expected ${article} ${origin} with maximum length ${bound}, but got ${article} ${origin} with length ${length} instead.`,
    param,
    `${origin}_above_max_length`,
  );
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function pathName(path: Path): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    return name === '' ? String(key) : `${name}.${String(key)}`;
  }, '');
}

function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    body,
  );
}
