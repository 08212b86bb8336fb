import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { z } from 'zod';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parentOf,
  pointerTo,
  segmentsOf,
} from '../../../agent/json.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { AgentFile, ModelFile } from '../schema/agent.ts';
import { ManifestFile, manifestJsonSchema, slackOnlyJsonSchema } from '../schema/manifest-file.ts';
import { NotifyFile, PolicyFile } from '../schema/policies.ts';
import { HttpFile, McpFile, ToolFile } from '../schema/tools.ts';

const MAX_ERRORS = 500;

const checkWhole = shapeCheck(manifestJsonSchema);
const checkSlack = shapeCheck(slackOnlyJsonSchema);

/**
 * Checks a manifest against the published schema, so that an editor and the bot never disagree about it. To compile that schema takes
 * a quarter of the start, and only its errors are needed: a manifest that fits the types it was made from fits all of it but `slack`.
 */
export function checkShape(manifest: JsonObject): Finding[] {
  if (!ManifestFile.safeParse(manifest).success) return checkWhole(manifest);
  return manifest.slack === undefined ? [] : checkSlack({ slack: manifest.slack });
}

/** Our own schemas need no check of theirs, and compile in half the time without being optimized. */
const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  verbose: true,
  logger: false,
  validateSchema: false,
  code: { optimize: false },
};

/** Returns a check of a file against a JSON Schema, which is made when it is first needed. */
export function shapeCheck(schema: () => JsonObject): (value: JsonValue) => Finding[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= addFormats.default(new Ajv(OPTIONS)).compile(schema());
    if (validate(value)) return [];
    return reportOutdented(value, describeSchemaErrors((validate.errors ?? []).slice(0, MAX_ERRORS)));
  };
}

const TYPE_WORDS = new Map([
  ['object', 'a mapping'],
  ['array', 'a list'],
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['null', 'nothing'],
]);

/** Turns the validator's errors into messages, one for each mistake; of alternatives it reports only the one that was meant. */
function describeSchemaErrors(errors: readonly ErrorObject[]): Finding[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const mismatches = new Set(
    errors
      .filter(({ keyword }) => keyword === 'type')
      .map((error) => `${error.schemaPath} ${error.instancePath}`),
  );
  /** Tells whether an error comes from an alternative that has the type of the written value. */
  const isMeant = (error: ErrorObject, union: ErrorObject): boolean => {
    const [branch = ''] = error.schemaPath.slice(union.schemaPath.length + 1).split('/');
    return !mismatches.has(`${union.schemaPath}/${branch}/type ${union.instancePath}`);
  };
  return errors
    .filter((error) => {
      // checkTools reports which key a tool needs, and a bad name has its own error.
      if (error.schemaPath.includes('/oneOf') || ['propertyNames', 'if'].includes(error.keyword))
        return false;
      if (error.keyword === 'anyOf') {
        return !errors.some((other) => isWithin(other, error) && isMeant(other, error));
      }
      return unions.every((union) => !isWithin(error, union) || isMeant(error, union));
    })
    .map(describe);
}

function isWithin(error: ErrorObject, union: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/`) && error.instancePath.startsWith(union.instancePath)
  );
}

function describe(error: ErrorObject): Finding {
  const { instancePath: pointer, params, propertyName } = error;
  if (propertyName !== undefined) {
    const message = `"${propertyName}" is not ${wanted(error.parentSchema)}`;
    return { pointer: pointerTo(pointer, propertyName), at: 'key', message };
  }
  if (error.keyword === 'additionalProperties') {
    const key = String(params.additionalProperty);
    const message =
      keyOfSection(pointer, key) ??
      misplacedKey(pointer, key, error.data) ??
      unknownKey(key, error.parentSchema);
    return { pointer: pointerTo(pointer, key), at: 'key', message };
  }

  if (error.keyword === 'required') {
    return { pointer, at: 'key', message: `"${String(params.missingProperty)}" is missing` };
  }
  if (error.keyword === 'uniqueItems') {
    const later = Math.max(Number(params.i), Number(params.j));
    const item: unknown = Array.isArray(error.data) ? error.data[later] : undefined;
    return {
      pointer: pointerTo(pointer, later),
      at: 'value',
      message: `${showValue(item)} appears twice in this list`,
    };
  }
  return { pointer, at: 'value', message: describeValue(error) };
}

/** The keys of each kind of section, so that a key of another one is recognised. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  agent: Object.keys(AgentFile.shape),
  'a policy': Object.keys(PolicyFile.shape),
  'a tool': Object.keys(ToolFile.shape),
  http: Object.keys(HttpFile.shape),
  mcp: Object.keys(McpFile.shape),
};

/** The sections whose keys are names: what has one name there has one key of what is below it. */
const NAMED: Readonly<Record<string, string>> = { '/policies': 'a policy', '/tools': 'a tool' };

/** Replaces what is said of a key that is indented too little by one finding about it. */
function reportOutdented(value: JsonValue, findings: readonly Finding[]): Finding[] {
  const outdented = Object.keys(NAMED).flatMap((section) => {
    const named = isJsonObject(value) ? value[section.slice(1)] : undefined;
    return Object.entries(isJsonObject(named) ? named : {}).flatMap(([key, entry]): Finding[] => {
      const pointer = pointerTo(section, key);
      const message = outdentedKey(pointer, entry);
      return message === undefined ? [] : [{ pointer, at: 'key', message }];
    });
  });
  const isInside = ({ pointer }: Finding) =>
    outdented.some((key) => pointer === key.pointer || pointer.startsWith(`${key.pointer}/`));
  return [...findings.filter((finding) => !isInside(finding)), ...outdented];
}

/** Explains a key that stands beside the names of policies or tools and belongs into one of them. */
export function outdentedKey(pointer: string, value: unknown): string | undefined {
  const key = segmentsOf(pointer).at(-1) ?? '';
  const owner = NAMED[parentOf(pointer)];
  if (owner === undefined || KEYS[owner]?.includes(key) !== true) return undefined;
  if (isJsonObject(value) && (lookOf(value) !== undefined || Object.keys(value).length === 0))
    return undefined;
  return `"${key}" is a key of ${owner}; indent it further than the name of ${owner}`;
}

const IN_MODEL = Object.keys(ModelFile.shape);
const IN_NOTIFY = Object.keys(NotifyFile.shape);

/** Names the section of the agent, or of a policy, that a key belongs to. */
function keyOfSection(pointer: string, key: string): string | undefined {
  const isOf = (section: string) =>
    `"${key}" is a key of "${section}": write "${section}: { ${section === 'model' ? 'name: …, ' : ''}${key}: … }"`;
  if (pointer === '/agent' && IN_MODEL.includes(key)) return isOf('model');
  if (/^\/policies\/[^/]+$/.test(pointer) && IN_NOTIFY.includes(key)) return isOf('notify');
  return undefined;
}

/** Explains an unknown key that is indented too little, or too much. */
function misplacedKey(pointer: string, key: string, container: unknown): string | undefined {
  const value = isJsonObject(container) ? container[key] : undefined;
  const looks = isJsonObject(value) ? lookOf(value) : undefined;
  if (pointer === '' && looks !== undefined)
    return `unknown key "${key}"; it looks like ${looks[0]}; indent it under "${looks[1]}"`;
  const kinds = pointer === '' ? ['agent'] : /^\/tools\/[^/]+$/.test(pointer) ? ['http', 'mcp'] : [];
  const own = kinds.find((kind) => {
    const isThere = pointer === '' || (isJsonObject(container) && container[kind] !== undefined);
    return isThere && KEYS[kind]?.includes(key) === true;
  });
  if (own !== undefined) return `unknown key "${key}"; it is a key of ${own}: indent it under "${own}"`;
  const isTooDeep = /^\/tools\/[^/]+\/(http|mcp)$/.test(pointer) && KEYS['a tool']?.includes(key) === true;
  return isTooDeep ? `unknown key "${key}"; it is a key of a tool: indent it less` : undefined;
}

function lookOf(value: JsonObject): readonly [string, string] | undefined {
  if (value.approvers !== undefined) return ['a policy', 'policies'];
  return ['module', 'code', 'mcp', 'http'].some((key) => value[key] !== undefined)
    ? ['a tool', 'tools']
    : undefined;
}

function unknownKey(key: string, schema: unknown): string {
  const known = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const guess = didYouMean(key, known);
  return `unknown key "${key}"${guess === '' ? `; the keys here are ${known.join(', ')}` : guess}`;
}

function describeValue({ keyword, data, params, parentSchema, message }: ErrorObject): string {
  const limit = Number(params.limit);
  const length = typeof data === 'string' || Array.isArray(data) ? data.length : 0;
  switch (keyword) {
    case 'type':
    case 'anyOf':
      return `expected ${wanted(parentSchema)}, but this is ${showValue(data)}`;
    case 'enum': {
      const allowed: string[] = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : [];
      const choice = allowed.length === 1 ? '' : 'one of ';
      return `${showValue(data)} is not ${choice}${allowed.join(', ')}${didYouMean(String(data), allowed)}`;
    }
    case 'const':
      return `${showValue(data)} is not ${showValue(params.allowedValue)}, ${parentSchema?.title ?? 'the only value'}`;
    case 'pattern':
      return `${showValue(data)} is not ${wanted(parentSchema)}`;
    case 'format':
      return `${showValue(data)} is not a ${String(params.format)}`;
    case 'minLength':
      return length === 0
        ? 'this must not be empty'
        : `this has ${length} characters; at least ${limit} are needed`;
    case 'maxLength':
      return `this has ${length} characters; at most ${limit} are allowed`;
    case 'minItems':
      return length === 0
        ? 'this list must not be empty'
        : `this list has ${length} entries; it needs at least ${limit}`;
    case 'maxItems':
      return `this list has ${length} entries; at most ${limit} are allowed`;
    case 'minimum':
      return `${showValue(data)} is too small; it must be at least ${limit}`;
    case 'maximum':
      return `${showValue(data)} is too large; it must be at most ${limit}`;
    default:
      return message ?? 'this does not fit';
  }
}

/** Describes what a schema asks for: its title if it has a pattern, otherwise its types. */
function wanted(schema: unknown): string {
  if (!isJsonObject(schema)) return 'something else';
  if (typeof schema.pattern === 'string') {
    return typeof schema.title === 'string' ? schema.title : `text that fits ${schema.pattern}`;
  }
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
  const types: unknown[] = branches.flatMap((branch) => (isJsonObject(branch) ? branch.type : []));
  return [...new Set(types.map((type) => TYPE_WORDS.get(String(type)) ?? String(type)))].join(' or ');
}

const MAX_SHOWN_LENGTH = 60;

/** Writes a value for a message, shortened to keep it on one line. */
function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN_LENGTH ? `${value.slice(0, MAX_SHOWN_LENGTH)}…` : value);
}

/** Parses the valid parts of a value, so that one wrong key does not hide the mistakes in the others. */
export function readableParts<Parts>(schema: z.ZodType<Parts>, value: unknown): Parts {
  const whole = schema.safeParse(value);
  if (whole.success) return whole.data;
  if (!isJsonObject(value)) return schema.parse({});
  const wrong = new Set(
    whole.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : issue.path.slice(0, 1),
    ),
  );
  return schema.parse(Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key))));
}
