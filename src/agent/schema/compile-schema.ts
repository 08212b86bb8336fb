import { createContext, Script } from 'node:vm';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { DefinitionError } from '../errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, toJson } from '../json.ts';

/** A JSON Schema, for tools that have no zod schema, such as those of MCP servers. */
export type JsonSchema = { readonly [keyword: string]: unknown };
export type Schema = z.ZodType | JsonSchema;

/** The value that a schema returns: the input of a tool's function. */
export type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : JsonObject;
/** The value that a schema accepts. */
export type Unparsed<S extends Schema> = S extends z.ZodType ? z.input<S> : JsonValue;

export type ParseResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly problem: string };

/** A compiled schema: its JSON Schema for the model, and the check of a value. */
export interface CompiledSchema<Value = unknown> {
  readonly jsonSchema: JsonObject;
  parse(value: unknown): ParseResult<Value>;
}

const ajvOptions = { strict: false, addUsedSchema: false, logger: false } as const;
/** Ajv keeps what it has compiled for ever, so each instance compiles this many schemas and is then replaced. */
const SCHEMAS_PER_INSTANCE = 100;

/** Returns a compiler whose memory does not grow with the number of schemas. */
function boundedCompiler(create: () => Ajv | Ajv2020): (schema: JsonSchema) => ValidateFunction {
  let ajv = addFormats.default(create());
  let compiled = 0;
  return (schema) => {
    if (compiled === SCHEMAS_PER_INSTANCE) {
      ajv = addFormats.default(create());
      compiled = 0;
    }
    compiled += 1;
    return ajv.compile(schema);
  };
}

const compileDraft07 = boundedCompiler(() => new Ajv(ajvOptions));
const compileDraft2020 = boundedCompiler(() => new Ajv2020(ajvOptions));

/** Patterns and `uniqueItems` can take exponential or quadratic time. */
const LONGEST_CHECK_MS = 250;

/** Compiles a zod schema or a JSON Schema; the error of one that does not compile names the tool and the schema. */
export function compileSchema<Value>(schema: Schema, tool: string, role: string): CompiledSchema<Value>;
export function compileSchema(schema: Schema, tool: string, role: string): CompiledSchema {
  try {
    return isZod(schema) ? compileZod(schema, role) : compileJsonSchema(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DefinitionError(
      'invalid-schema',
      `Tool "${tool}": its ${role} cannot be used: ${reason}`,
      tool,
      {
        cause,
      },
    );
  }
}

/** Avoids `instanceof`: a tool from an admin's folder may bring its own copy of zod. */
function isZod(schema: Schema): schema is z.ZodType {
  return '_zod' in schema && 'safeParse' in schema;
}

function compileZod(schema: z.ZodType, role: string): CompiledSchema {
  // The model needs the exact input schema; an output schema may have no JSON form (`z.void()`).
  const unrepresentable = role === 'inputSchema' ? 'throw' : 'any';
  const { $schema: _dialect, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input', unrepresentable });
  return {
    jsonSchema: asJsonObject(jsonSchema),
    parse(value) {
      let result: z.ZodSafeParseResult<unknown>;
      try {
        result = schema.safeParse(value);
      } catch (error) {
        // A refinement that throws (`new URL` of an invalid address) rejects the value as well.
        return { ok: false, field: '', problem: error instanceof Error ? error.message : String(error) };
      }
      if (result.success) return { ok: true, value: result.data };
      const issue = result.error.issues[0];
      return { ok: false, field: issue?.path.join('.') ?? '', problem: issue?.message ?? 'does not fit' };
    },
  };
}

function compileJsonSchema(schema: JsonSchema): CompiledSchema {
  // An asynchronous schema returns a promise, which would let every input pass.
  if ('$async' in schema) throw new TypeError('a schema with $async is not supported');
  const dialect = typeof schema.$schema === 'string' ? schema.$schema : '2020-12';
  const validate = dialect.includes('draft-07') ? compileDraft07(schema) : compileDraft2020(schema);
  const jsonSchema = asJsonObject(schema);
  return {
    jsonSchema,
    parse(value) {
      const check = () => withTimeout(() => validate(value), LONGEST_CHECK_MS);
      // On a busy machine the process may have waited for its turn, so a check that took too long is made once more.
      const checked = check() ?? check();
      if (checked === undefined) {
        const problem = `it could not be checked within ${LONGEST_CHECK_MS} ms; send shorter and simpler values`;
        return { ok: false, field: '', problem };
      }
      if (checked.result) return { ok: true, value };
      const [error] = validate.errors ?? [];
      return {
        ok: false,
        field: error === undefined ? '' : fieldOf(error),
        problem: error?.message ?? 'does not fit',
      };
    },
  };
}

function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  const missing: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  return [...path, ...(typeof missing === 'string' ? [missing] : [])].join('.');
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function asJsonObject(value: unknown): JsonObject {
  const json = toJson(value);
  if (!isJsonObject(json)) throw new TypeError('a schema must be an object');
  return json;
}

/**
 * Returns the input as the tool will get it, with defaults filled in and unknown keys removed, so that people approve what runs.
 * A schema that transforms values (a date from a text) cannot parse its own output; then the input stays as given.
 */
export function effectiveInput(schema: CompiledSchema, input: JsonValue): JsonValue {
  const first = schema.parse(input);
  if (!first.ok) return input;
  const effective = toJson(first.value);
  const again = schema.parse(effective);
  return again.ok && canonicalJson(toJson(again.value)) === canonicalJson(effective) ? effective : input;
}

const context = createContext({ work: () => {} });
const script = new Script('work()');

/**
 * Runs synchronous work with a time limit that holds even inside a regular expression; `undefined` means that the limit was reached.
 * The work is cut off anywhere, so it must not leave state half written.
 */
function withTimeout<Result>(work: () => Result, limitMs: number): { readonly result: Result } | undefined {
  let done: { readonly result: Result } | undefined;
  context.work = () => {
    done = { result: work() };
  };
  try {
    script.runInContext(context, { timeout: limitMs });
    return done;
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  } finally {
    context.work = () => {};
  }
}

/** Avoids `instanceof`: the error belongs to the other context. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
