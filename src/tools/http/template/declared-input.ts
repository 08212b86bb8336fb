import { isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import type { InputPath } from './template.ts';

const COMPOSED = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

export type Declaration = 'required' | 'optional' | 'unknown';

/** Tells whether a JSON Schema of an object declares the property at a path, and whether it is required. */
export function declarationOf(schema: JsonObject, path: InputPath): Declaration {
  let node: JsonValue | undefined = schema;
  let isRequired = true;
  for (const name of path) {
    if (!isJsonObject(node)) break;
    const { properties, required, items, type }: JsonObject = node;
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
      isRequired &&= Array.isArray(required) && required.includes(name);
      node = properties[name];
    } else if (isComposed(node)) {
      // Such a schema can only be checked with a value; the call does that.
      break;
    } else if (node === schema || isJsonObject(properties)) {
      return 'unknown';
    } else if (type === undefined || type === 'object' || (type === 'array' && /^\d+$/.test(name))) {
      isRequired = false;
      node = type === 'array' ? items : undefined;
    } else return 'unknown';
  }
  return isRequired ? 'required' : 'optional';
}

function isComposed(schema: JsonObject): boolean {
  return COMPOSED.some((keyword) => Object.hasOwn(schema, keyword));
}
