import { isJsonObject, type JsonObject, type JsonValue } from '../../../../agent/json.ts';
import { readableName } from '../../../../tools/presentation/formats.ts';
import { limits } from '../../../slack/limits.ts';

export interface Choice {
  readonly value: JsonValue;
  readonly label: string | undefined;
}

/** The kind of an input; a value without its own kind is entered as JSON. */
export type FieldKind =
  | { readonly type: 'text' | 'email' | 'url' | 'date' | 'moment' | 'boolean' | 'json' }
  | { readonly type: 'number'; readonly isInteger: boolean }
  | { readonly type: 'choice' | 'choices'; readonly choices: readonly Choice[] }
  | { readonly type: 'lines'; readonly of: 'text' | 'number' };

/** One input of a form. */
export interface Field {
  /** A number, because a property's name may exceed Slack's limit. */
  readonly blockId: string;
  /** The property, or `undefined` if the form is a single value. */
  readonly name: string | undefined;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly schema: JsonObject;
  readonly kind: FieldKind;
}

export const WHOLE = 'whole';
const MOST_CHOICES = limits.selectOptions * limits.optionGroups;

/** Lists the inputs for a schema: one per property of a plain object, otherwise one for the whole value. */
export function fieldsOf(root: JsonObject): Field[] {
  const { schema } = settle(root, root);
  const { properties } = schema;
  if (schema.type !== 'object' || !isJsonObject(properties) || isComposed(schema)) return [wholeField(root)];
  const names = Object.keys(properties);
  if (names.length > limits.formFields) return [wholeField(root)];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = names.map((name, index) => {
    const property = properties[name];
    return fieldOf(root, isJsonObject(property) ? property : {}, {
      blockId: `field-${index}`,
      name,
      isRequired: required.includes(name),
    });
  });
  return fields.map((field) => {
    const isAlone = fields.filter(({ label }) => label === field.label).length === 1;
    // Two labels that look alike are told apart by the names.
    return isAlone ? field : { ...field, label: field.name ?? field.label };
  });
}

/** Builds the single input for a whole value; an object is entered as JSON. */
export function wholeField(root: JsonObject): Field {
  return fieldOf(root, root, { blockId: WHOLE, name: undefined, isRequired: true });
}

function fieldOf(
  root: JsonObject,
  given: JsonObject,
  { blockId, name, isRequired }: Pick<Field, 'blockId' | 'name' | 'isRequired'>,
): Field {
  const { schema, isNullable } = settle(root, given);
  const { title, description } = schema;
  return {
    blockId,
    name,
    label: typeof title === 'string' && title.trim() !== '' ? title : readableName(name ?? 'Value'),
    hint: typeof description === 'string' && description.trim() !== '' ? description : undefined,
    isRequired,
    isNullable,
    schema,
    kind: kindOf(root, schema),
  };
}

function kindOf(root: JsonObject, schema: JsonObject): FieldKind {
  const choices = choicesOf(schema);
  if (choices !== undefined) return { type: 'choice', choices };
  if (isComposed(schema)) return { type: 'json' };
  switch (schema.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: 'number', isInteger: schema.type === 'integer' };
    case 'string':
      return { type: textKind(schema.format) };
    case 'array':
      return isJsonObject(schema.items)
        ? listKind(kindOf(root, settle(root, schema.items).schema))
        : { type: 'json' };
    default:
      return { type: 'json' };
  }
}

function listKind(item: FieldKind): FieldKind {
  switch (item.type) {
    case 'choice':
      return { type: 'choices', choices: item.choices };
    case 'number':
      return { type: 'lines', of: 'number' };
    case 'text':
    case 'email':
    case 'url':
    case 'date':
    case 'moment':
      return { type: 'lines', of: 'text' };
    default:
      return { type: 'json' };
  }
}

function textKind(format: JsonValue | undefined): 'text' | 'email' | 'url' | 'date' | 'moment' {
  switch (format) {
    case 'date':
    case 'email':
      return format;
    case 'date-time':
      return 'moment';
    case 'uri':
    case 'url':
      return 'url';
    default:
      return 'text';
  }
}

/** Returns the values that a schema lists by `enum`, `const` or alternatives. */
function choicesOf(schema: JsonObject): Choice[] | undefined {
  const listed = listedValues(schema);
  const areScalars = listed?.every(({ value }) => typeof value !== 'object' || value === null);
  return areScalars && listed !== undefined && listed.length > 0 && listed.length <= MOST_CHOICES
    ? listed
    : undefined;
}

function listedValues(schema: JsonObject): Choice[] | undefined {
  if (schema.const !== undefined) return [{ value: schema.const, label: undefined }];
  if (Array.isArray(schema.enum)) return schema.enum.map((value: JsonValue) => ({ value, label: undefined }));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives)) return undefined;
  const values = alternatives.flatMap((each: JsonValue): Choice[] =>
    isJsonObject(each) && each.const !== undefined
      ? [{ value: each.const, label: typeof each.title === 'string' ? each.title : undefined }]
      : [],
  );
  return values.length === alternatives.length ? values : undefined;
}

/** Resolves references within the document, and unwraps a nullable schema. */
function settle(
  root: JsonObject,
  given: JsonObject,
): { readonly schema: JsonObject; readonly isNullable: boolean } {
  let schema = given;
  let isNullable = false;
  for (let step = 0; step < 10; step += 1) {
    const next = dereference(root, schema) ?? withoutNull(schema);
    if (next === undefined) break;
    isNullable ||= next.isNullable;
    schema = next.schema;
  }
  return { schema, isNullable };
}

function dereference(root: JsonObject, { $ref, ...rest }: JsonObject) {
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return undefined;
  const segments = $ref
    .split('/')
    .slice(1)
    .map((segment) => decodeSegment(segment));
  const target = segments.reduce<JsonValue | undefined>(
    (at, segment) => (isJsonObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined),
    root,
  );
  return isJsonObject(target) ? { schema: { ...target, ...rest }, isNullable: false } : undefined;
}

function decodeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function withoutNull(schema: JsonObject) {
  const { type, anyOf, oneOf, ...rest } = schema;
  if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
    const other = type.find((each: JsonValue) => each !== 'null');
    return other === undefined ? undefined : { schema: { ...schema, type: other }, isNullable: true };
  }
  const alternatives = anyOf ?? oneOf;
  if (!Array.isArray(alternatives) || alternatives.length !== 2) return undefined;
  const [other, ...more] = alternatives.filter(
    (each: JsonValue) => !isJsonObject(each) || each.type !== 'null',
  );
  return isJsonObject(other) && more.length === 0
    ? { schema: { ...other, ...rest }, isNullable: true }
    : undefined;
}

function isComposed(schema: JsonObject): boolean {
  return ['$ref', 'anyOf', 'oneOf', 'allOf', 'if', 'patternProperties'].some(
    (keyword) => schema[keyword] !== undefined,
  );
}
