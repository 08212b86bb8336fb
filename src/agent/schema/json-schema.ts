import { type Context, createContext, Script } from 'node:vm';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { deepFreeze, isJsonObject, type JsonObject, type JsonValue, segmentsOf } from '../json.ts';
import { jsonSchemaPattern, TextTooLong } from '../util/pattern.ts';

export type ParseResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly problem: string };

/** A compiled schema: its JSON Schema for the model, and the check of a value. */
export interface CompiledSchema<Value = unknown> {
  readonly jsonSchema: JsonObject;
  parse(value: unknown): ParseResult<Value>;
}

/** Some keywords can take quadratic or exponential time. */
const LONGEST_CHECK_MS = 250;

/** The keywords whose check takes no longer than the schema and the value are large. */
const QUICK = new Set(
  `$schema $id $comment title description default examples deprecated readOnly writeOnly
  type enum const properties required additionalProperties items prefixItems minProperties maxProperties
  minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  anyOf allOf oneOf not`.split(/\s+/),
);
/** The keywords whose value is not a schema, and those whose value has schemas by names of the author's own. */
const VALUES = new Set(['default', 'examples', 'enum', 'const', 'required', 'type']);
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

const metaSchemas = { '2020-12': metaSchemaOf(Ajv2020), 'draft-07': metaSchemaOf(Ajv) };

/**
 * Compiles a JSON Schema. Patterns run in linear time, references stay within the schema, and a check that takes too long, or cannot be
 * made, does not fit.
 */
export function compileJsonSchema(schema: JsonObject): CompiledSchema {
  // An asynchronous schema returns a promise, which would let every input pass.
  if ('$async' in schema) throw new TypeError('a schema with $async is not supported');
  const draft = String(schema.$schema ?? '').includes('draft-07') ? 'draft-07' : '2020-12';
  metaSchemas[draft]().validateSchema(schema, true);
  const unsure = first(schemasIn(schema), (each) => unsureIn(each, schema));
  if (unsure !== undefined) throw new TypeError(`${unsure} is not supported: it cannot be checked exactly`);
  const circle = findCircle(schema);
  if (circle !== undefined)
    throw new TypeError(
      `its references lead in a circle at "${circle}", without going deeper into the value`,
    );
  const isQuick = canOnlyBeQuick(schema);
  let validate: ValidateFunction | undefined = compile(schema, draft);

  function check(value: unknown): ParseResult<unknown> | undefined {
    const current = validate ?? compile(schema, draft);
    // A check that is cut off may leave a pattern half changed.
    validate = undefined;
    const checked = isQuick ? { result: current(value) } : runWithin(() => current(value), LONGEST_CHECK_MS);
    if (checked === undefined) return undefined;
    validate = current;
    if (checked.result) return { ok: true, value };
    const [error] = current.errors ?? [];
    return {
      ok: false,
      field: error === undefined ? '' : fieldOf(error),
      problem: error?.message ?? 'does not fit',
    };
  }

  return {
    jsonSchema: deepFreeze(schema),
    parse(value) {
      try {
        // On a busy machine the process may have waited for its turn, so a check that took too long is made once more.
        const result = check(value) ?? check(value);
        return (
          result ??
          unfit(`it could not be checked within ${LONGEST_CHECK_MS} ms; send shorter and simpler values`)
        );
      } catch (error) {
        if (error instanceof TextTooLong) return unfit(error.message);
        if (error instanceof RangeError)
          return unfit('it could not be checked, because it is nested too deeply');
        throw error;
      }
    },
  };
}

function unfit(problem: string): ParseResult<never> {
  return { ok: false, field: '', problem };
}

/** Compiles with an instance of its own: what a schema declares (ids, anchors) is not seen by another one. */
function compile(schema: JsonObject, draft: keyof typeof metaSchemas): ValidateFunction {
  const isAboutSchemas = /"\$ref":"https?:\/\/json-schema\.org\//.test(JSON.stringify(schema));
  const options = {
    strict: false,
    logger: false,
    meta: isAboutSchemas,
    validateSchema: false,
    ownProperties: true,
    code: { regExp },
  } as const;
  return addFormats.default(draft === 'draft-07' ? new Ajv(options) : new Ajv2020(options)).compile(schema);
}

const regExp = Object.assign((source: string) => jsonSchemaPattern(source), { code: 'jsonSchemaPattern' });

/** Returns what checks schemas themselves. It is made when it is first needed; patterns are checked when they are compiled. */
function metaSchemaOf(Validator: typeof Ajv | typeof Ajv2020): () => Ajv {
  let made: Ajv | undefined;
  return () => (made ??= new Validator({ strict: false, logger: false, validateFormats: false }));
}

function fieldOf(error: ErrorObject): string {
  const path = segmentsOf(error.instancePath);
  const missing: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  return [...path, ...(typeof missing === 'string' ? [missing] : [])].join('.');
}

function canOnlyBeQuick(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(
    ([keyword, value]) => QUICK.has(keyword) && subschemas(keyword, value).every(canOnlyBeQuick),
  );
}

/** Lists the schemas right below a keyword. */
function subschemas(keyword: string, value: JsonValue): readonly JsonValue[] {
  if (VALUES.has(keyword) || typeof value !== 'object' || value === null) return [];
  return NAMED.has(keyword) || Array.isArray(value) ? Object.values(value) : [value];
}

/** Names the part of a schema that the validator is known to check wrongly: a value that does not fit could pass. */
function unsureIn(schema: JsonObject, root: JsonObject): string | undefined {
  const { properties = {} } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, '__proto__'))
    return 'a property named "__proto__"';
  if (schema !== root && '$ref' in schema && '$id' in schema) return '"$id" beside "$ref"';
  const used = ['$dynamicRef', '$recursiveRef', 'unevaluatedItems'].find((keyword) => keyword in schema);
  if (used !== undefined) return `"${used}"`;
  const isHalf = (each: JsonObject) => 'if' in each && !('then' in each && 'else' in each);
  return 'unevaluatedProperties' in schema && schemasIn(root).some(isHalf)
    ? '"unevaluatedProperties" with an "if" that lacks "then" or "else"'
    : undefined;
}

/** The keywords whose schemas are for the same value as the schema that has them. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

/** Finds a reference that leads back to itself for the same value: its check would never end. */
function findCircle(root: JsonObject): string | undefined {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();

  function visit(schema: JsonValue | undefined, reference: string): string | undefined {
    if (!isJsonObject(schema) || done.has(schema)) return undefined;
    if (open.has(schema)) return reference;
    open.add(schema);
    const references = [schema.$ref].filter(isText);
    const here = IN_PLACE.flatMap((keyword) => subschemas(keyword, schema[keyword] ?? null));
    const found =
      first(references, (text) => visit(resolve(root, text), text)) ??
      first(here, (entry) => visit(entry, reference));
    open.delete(schema);
    done.add(schema);
    return found;
  }

  return first(schemasIn(root), (schema) => visit(schema, '#'));
}

function schemasIn(schema: JsonValue): readonly JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const below = Object.entries(schema).flatMap(([keyword, value]) => subschemas(keyword, value));
  return [schema, ...below.flatMap(schemasIn)];
}

/** Finds the schema that a reference names by its path or its anchor. */
function resolve(root: JsonObject, reference: string): JsonValue | undefined {
  const [, fragment = ''] = reference.split('#', 2);
  if (!reference.startsWith('#') && reference !== root.$id) return undefined;
  if (fragment !== '' && !fragment.startsWith('/'))
    return schemasIn(root).find(({ $anchor, $dynamicAnchor }) =>
      [$anchor, $dynamicAnchor].includes(fragment),
    );
  let found: JsonValue | undefined = root;
  for (const key of segmentsOf(decodeURIComponent(fragment))) {
    found =
      typeof found === 'object' && found !== null
        ? Object.entries(found).find(([name]) => name === key)?.[1]
        : undefined;
  }
  return found;
}

function first<Entry, Found>(
  list: readonly Entry[],
  find: (entry: Entry) => Found | undefined,
): Found | undefined {
  for (const entry of list) {
    const found = find(entry);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The context that time limits need, made when the first schema needs one. */
let watchdog: { readonly context: Context; readonly script: Script } | undefined;

/**
 * Runs synchronous work with a time limit that holds even inside a regular expression; `undefined` means that the limit was reached.
 * The work is cut off anywhere, so what it leaves half written must not be used again.
 */
function runWithin<Result>(work: () => Result, limitMs: number): { readonly result: Result } | undefined {
  let done: { readonly result: Result } | undefined;
  watchdog ??= { context: createContext({ work: () => {} }), script: new Script('work()') };
  const { context, script } = watchdog;
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
