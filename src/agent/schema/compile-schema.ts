import { hash } from 'node:crypto';
import { z } from 'zod';
import { DefinitionError } from '../errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, toJson } from '../json.ts';
import { BoundedCache } from '../util/pattern.ts';
import { type CompiledSchema, compileJsonSchema } from './json-schema.ts';

/** A JSON Schema, for tools that have no zod schema, such as those of MCP servers. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema of another library, such as valibot or ArkType, by the interface that they share (standardschema.dev). */
export interface StandardSchema<Given = unknown, Value = Given> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly types?: { readonly input: Given; readonly output: Value } | undefined;
    /** The JSON Schema for the model; only some libraries have it, others in a package of their own. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
      | undefined;
  };
}
interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly StandardIssue[] | undefined;
}
interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type Schema = z.ZodType | StandardSchema | JsonSchema;

/** The value that a schema returns: the input of a tool's function. */
export type Parsed<S extends Schema> = S extends z.ZodType
  ? z.output<S>
  : S extends StandardSchema<unknown, infer Value>
    ? Value
    : JsonObject;
/** The value that a schema accepts. */
export type Unparsed<S extends Schema> = S extends z.ZodType
  ? z.input<S>
  : S extends StandardSchema<infer Given>
    ? Given
    : JsonValue;

/** The same schema is compiled again and again: for each answer to a form, and whenever a server lists its tools. */
const compiled = new BoundedCache<CompiledSchema>(200);

/** Compiles a zod schema, a Standard Schema or a JSON Schema; the error of one that does not compile names the tool and the schema. */
export function compileSchema<Value>(schema: Schema, tool: string, role: string): CompiledSchema<Value>;
export function compileSchema(schema: Schema, tool: string, role: string): CompiledSchema {
  try {
    if (isZod(schema)) return compileZod(schema, role);
    if (isStandard(schema)) return compileStandard(schema, role);
    const json = jsonSchemaOf(schema);
    return compiled.get(hash('sha256', JSON.stringify(json)), () => compileJsonSchema(json));
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

function isStandard(schema: Schema): schema is StandardSchema {
  return '~standard' in schema;
}

function compileZod(schema: z.ZodType, role: string): CompiledSchema {
  // The model needs the exact input schema; an output schema may have no JSON form (`z.void()`).
  const unrepresentable = role === 'inputSchema' ? 'throw' : 'any';
  const { $schema: _dialect, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input', unrepresentable });
  const json = asJsonObject(jsonSchema);
  const isAmbiguous = namesInherited(json);
  return {
    jsonSchema: json,
    parse(value) {
      let result: z.ZodSafeParseResult<unknown>;
      try {
        result = schema.safeParse(isAmbiguous ? withoutPrototypes(value) : value);
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

function compileStandard({ '~standard': standard }: StandardSchema, role: string): CompiledSchema {
  const { vendor, validate, jsonSchema } = standard;
  if (jsonSchema === undefined && role === 'inputSchema') throw new TypeError(missingJsonSchema(vendor));
  const { $schema: _dialect, ...described } = jsonSchema?.input({ target: 'draft-2020-12' }) ?? {};
  return {
    jsonSchema: asJsonObject(described),
    parse(value) {
      let result: ReturnType<typeof validate>;
      try {
        result = validate(value);
      } catch (error) {
        return { ok: false, field: '', problem: error instanceof Error ? error.message : String(error) };
      }
      if (result instanceof Promise) {
        result.catch(() => {});
        return { ok: false, field: '', problem: 'its schema checks asynchronously, which is not supported' };
      }
      if (result.issues === undefined) return { ok: true, value: result.value };
      const [issue] = result.issues;
      const path = issue?.path?.map((step) => String(typeof step === 'object' ? step.key : step));
      return { ok: false, field: path?.join('.') ?? '', problem: issue?.message ?? 'does not fit' };
    },
  };
}

function missingJsonSchema(vendor: string): string {
  const means = new Map([
    ['zod', 'it is a schema of zod 3; use zod 4'],
    ['valibot', 'wrap it in toStandardJsonSchema of @valibot/to-json-schema'],
  ]);
  return `the model needs a JSON Schema, which this schema of ${vendor} cannot give: ${
    means.get(vendor) ?? 'use a version or a wrapper with "~standard".jsonSchema, zod 4, or a JSON Schema'
  }`;
}

/** Returns a JSON Schema as plain JSON; an object of a library that is no such schema is refused. */
function jsonSchemaOf(schema: JsonSchema): JsonObject {
  const isPlain =
    isJsonObject(schema) &&
    [null, 'Object'].includes(Object.getPrototypeOf(schema)?.constructor.name ?? null);
  if (!isPlain || holdsFunction(schema)) {
    const isOldZod = isJsonObject(schema) && '_def' in schema && 'safeParse' in schema;
    throw new TypeError(
      isOldZod
        ? 'it is a schema of zod 3; use zod 4'
        : 'it is neither a schema of zod 4, nor a Standard Schema ("~standard"), nor a JSON Schema; give one of these',
    );
  }
  return asJsonObject(schema);
}

function holdsFunction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function';
  return Object.values(value).some(holdsFunction);
}

/** Tells whether a property has the name of one that every object inherits, which zod would read in its place. */
function namesInherited(schema: JsonValue): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, entry]) => key in Object.prototype || namesInherited(entry));
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isJsonObject(value)) return value;
  const bare: Record<string, unknown> = Object.create(null);
  for (const [key, entry] of Object.entries(value)) bare[key] = withoutPrototypes(entry);
  return bare;
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
