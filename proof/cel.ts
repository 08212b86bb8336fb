import { z } from 'zod';
import type { JsonValue } from '../src/agent/json.ts';
import { compileExpression } from '../src/policy/condition.ts';
import { fail, newTally, type Suite } from './suite.ts';

/** A value as the suite writes it: one key that names the type. */
type Written = { readonly [type: string]: unknown };

const Test = z.object({
  original: z.object({
    name: z.string().default(''),
    expr: z.string(),
    container: z.string().optional(),
    disableMacros: z.boolean().optional(),
    value: z.record(z.string(), z.unknown()).optional(),
    evalError: z.unknown().optional(),
    typedResult: z.object({ result: z.record(z.string(), z.unknown()).optional() }).optional(),
    bindings: z
      .record(z.string(), z.object({ value: z.record(z.string(), z.unknown()).optional() }))
      .default({}),
  }),
});
type Case = z.infer<typeof Test>['original'];
const Folder = z.object({
  name: z.string(),
  suites: z.array(z.unknown()).optional(),
  tests: z.array(z.unknown()).optional(),
});

/** Why a case fails that is not a defect, by its path or by what it is about; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /\/(block|encoders|math|network|proto|bindings|string)_?\w*ext|\/macros2\/|\/optionals\//,
    'refused: an extension that rules do not have',
  ],
  [
    /objectValue|\/(proto2|proto3|enums|dynamic|wrappers|unknowns)\/|eq_wrapper|TestAllTypes|google\.protobuf|\bproto\b/,
    'refused: protocol buffers, and inputs are JSON',
  ],
  [/\/namespace\/|qualified_identifier|container/, 'refused: containers and qualified names'],
];
const REFUSED = 'refused: the rule does not load, or asks under the strictest policy';
const INEXACT = 'refused: unsigned numbers with `in`, and bytes that are not ASCII';

/** The cases that have a value where the suite has another or an error. */
const DIFFERENT: readonly (readonly [RegExp, string])[] = [
  [/\/timestamps\//, 'times have milliseconds, and no limits at year 1 and 9999'],
  [
    /\/int64_math\/int64_min_negate|\/conversions\/(int|uint)\/double_/,
    'whole numbers do not overflow at 2^63',
  ],
  [/lossy_double|big_double_int/, 'whole numbers past 2^53 are compared exactly'],
  [/bytes_invalid/, 'bytes that are no UTF-8 become a text with U+FFFD'],
  [/objectValue/, 'protocol buffers, and inputs are JSON'],
  [/\/namespace\//, 'containers and qualified names'],
  [/map_key_null|map_value_repeat_key/, 'a map that is written out may have null as a key, or a key twice'],
];

export const cel: Suite = {
  name: 'cel-spec, conditions of rules',
  source: '`@bufbuild/cel-spec` 0.6.1 (cel-spec v0.25.1)',
  hole: '`<` means `<=`',
  async run({ isLoosened }) {
    const tally = newTally();
    const visit = (folder: unknown, path: string): void => {
      const { suites = [], tests: cases = [], name } = Folder.parse(folder);
      for (const suite of suites) visit(suite, `${path}/${name}`);
      for (const test of cases) {
        const { original } = Test.parse(test);
        const bound = JSON.stringify(original.bindings);
        const known = `${path}/${name}/${original.name} ${original.expr} ${bound === '{}' ? '' : bound}`;
        const expr = isLoosened ? original.expr.replaceAll(' < ', ' <= ') : original.expr;
        judge({ ...original, expr }, known);
      }
    };
    const judge = (test: Case, known: string): void => {
      const wanted =
        test.evalError === undefined ? show(readValue(test.value ?? test.typedResult?.result)) : undefined;
      const got = evaluate(test);
      if (got.outcome === 'refused' ? wanted === undefined : got.value === wanted) tally.passed += 1;
      else if (got.outcome === 'refused')
        fail(tally, known, reasonIn(REASONS, known) ?? (got.isInexact ? INEXACT : REFUSED));
      else
        fail(tally, `${known}: ${got.value} instead of ${wanted ?? 'an error'}`, reasonIn(DIFFERENT, known));
    };
    // The package is installed beside this file only, so its types are not known.
    const address = import.meta.resolve('@bufbuild/cel-spec/testdata/conformance.js');
    visit(z.object({ tests: z.unknown() }).parse(await import(address)).tests, '');
    return tally;
  },
};

function reasonIn(reasons: readonly (readonly [RegExp, string])[], known: string): string | undefined {
  return reasons.find(([pattern]) => pattern.test(known))?.[1];
}

type Got =
  | { readonly outcome: 'refused'; readonly isInexact: boolean }
  | { readonly outcome: 'value'; readonly value: string };

/** Evaluates an expression as the condition of a rule is; its variables are fields of the input. */
function evaluate({ expr, bindings }: Case): Got {
  try {
    const names = Object.keys(bindings);
    const input = Object.fromEntries(names.map((name) => [name, toJson(readValue(bindings[name]?.value))]));
    const named = names.reduce(
      (text, name) => text.replaceAll(new RegExp(`(?<![.\\w'"])${name}\\b`, 'g'), `input.${name}`),
      expr,
    );
    const result = compileExpression(named)({ input, requester: 'U1', channel: 'C1', tool: 't' });
    return 'error' in result
      ? { outcome: 'refused', isInexact: false }
      : { outcome: 'value', value: show(result.value) };
  } catch (error) {
    return { outcome: 'refused', isInexact: /unsigned|not ASCII/.test(String(error)) };
  }
}

const Entries = z.object({
  entries: z
    .array(z.object({ key: z.record(z.string(), z.unknown()), value: z.record(z.string(), z.unknown()) }))
    .default([]),
});
const Values = z.object({ values: z.array(z.record(z.string(), z.unknown())).default([]) });

/** Reads a value of the suite. */
function readValue(written: Written = { boolValue: true }): unknown {
  const [[type = '', value] = []] = Object.entries(written);
  switch (type) {
    case 'int64Value':
    case 'uint64Value':
      return BigInt(String(value));
    case 'doubleValue':
      return Number(value);
    case 'bytesValue':
      return Buffer.from(String(value), 'base64');
    case 'nullValue':
      return null;
    case 'listValue':
      return Values.parse(value).values.map(readValue);
    case 'mapValue':
      return new Map(
        Entries.parse(value).entries.map((entry) => [readValue(entry.key), readValue(entry.value)]),
      );
    case 'stringValue':
    case 'boolValue':
      return value;
    default:
      return { [type]: value };
  }
}

/** A value as a call's input has it: numbers are JavaScript's. */
function toJson(value: unknown): JsonValue {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? Number(part) : part instanceof Map ? Object.fromEntries(part) : part,
  );
  return z.json().parse(JSON.parse(text));
}

/** Writes a value so that equal ones have the same text; a whole number from the input is a double. */
function show(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return `number ${Number(value)}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (value instanceof Map) return showEntries([...value]);
  if (value instanceof Date) return `time ${value.toISOString()}`;
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value);
    const [[type, name] = []] = entries;
    return type === 'typeValue' ? `type ${String(name).replace('null_type', 'null')}` : showEntries(entries);
  }
  if (typeof value?.valueOf() === 'bigint') return `number ${Number(value)}`;
  const [, type] = /^Type<(.*)>$/.exec(String(value)) ?? [];
  return type === undefined ? (JSON.stringify(value) ?? String(value)) : `type ${type}`;
}

function showEntries(entries: readonly (readonly [unknown, unknown])[]): string {
  return `{${entries
    .map(([key, value]) => `${show(key)}: ${show(value)}`)
    .sort()
    .join(', ')}}`;
}
