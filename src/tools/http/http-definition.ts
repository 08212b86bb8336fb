import { DefinitionError } from '../../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { JsonSchema } from '../../agent/schema/compile-schema.ts';
import {
  bodyFormat,
  headerNameProblem,
  type InputPath,
  isHeaderValue,
  parseTemplate,
  parseUrlTemplate,
  placeholdersOf,
  type QueryValue,
  wholePlaceholder,
} from './template.ts';

/** The call of an HTTP tool; `{{input.name}}` is replaced by an argument of the call. */
export interface HttpTemplate {
  readonly method: string;
  /** No placeholder in scheme, host or port; one in the path must be a required input. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** A tree is sent as JSON, or as form fields if Content-Type asks for them; a text is sent as it is. */
  readonly body?: JsonValue;
  /** A JSON Pointer (`/data/id`) or a dotted path (`data.id`) into the response. */
  readonly select?: string;
}

/** One mistake of a template, and its path. */
export interface TemplateProblem {
  readonly at: readonly (string | number)[];
  readonly message: string;
}

const HTTP_METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Finds every mistake of a template, each with its path. */
export function httpProblems(
  template: HttpTemplate,
  inputSchema: JsonSchema,
  { idempotent = false }: { readonly idempotent?: boolean } = {},
): readonly TemplateProblem[] {
  const { method, url, headers = {}, query = {}, body } = template;
  const problems: TemplateProblem[] = [];
  const note = (at: TemplateProblem['at'], message: string | undefined) => {
    if (message !== undefined) problems.push({ at, message });
  };

  if (!HTTP_METHODS.includes(method))
    note(['method'], `the method must be one of ${HTTP_METHODS.join(', ')}`);
  note(['url'], urlProblem(url, inputSchema));
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerNameProblem(name) ?? headerValueProblem(name, value, idempotent);
    note(['headers', name], problem ?? inputsProblem(value, inputSchema));
  }
  for (const [name, value] of Object.entries(query)) {
    note(['query', name], name.includes('{{') ? KEY_PROBLEM : inputsProblem(value, inputSchema));
  }
  if (body !== undefined) {
    if (method === 'GET') note(['body'], 'a GET has no body; use "query", or another method');
    note(['body'], bodyProblem(body, contentTypeOf(headers)));
    noteTree(body, ['body'], inputSchema, note);
  }
  return problems;
}

/** Returns the content type of a template's headers, in any case of letters. */
export function contentTypeOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

const KEY_PROBLEM = 'a placeholder may be in a value, not in a name';

function urlProblem(url: string, inputSchema: JsonSchema): string | undefined {
  return orProblem(() => {
    const parsed = parseUrlTemplate(url);
    if (typeof parsed === 'string') return `this URL cannot be used: ${parsed}`;
    for (const path of parsed.segments.flat()) {
      if (typeof path !== 'string' && declarationOf(asSchema(inputSchema), path) === 'optional') {
        return `"${path.join('.')}" is in the path of the URL, so the input schema must require it`;
      }
    }
    return inputsProblem(url, inputSchema);
  });
}

function headerValueProblem(name: string, value: string, idempotent: boolean): string | undefined {
  const lower = name.toLowerCase();
  if (idempotent && lower === 'idempotency-key') return 'an idempotent tool sends this header by itself';
  if (lower === 'content-type' && value.includes('{{')) return 'the content type may hold no placeholder';
  return isHeaderValue(value) ? undefined : 'a header holds one line of Latin-1 without control characters';
}

function bodyProblem(body: JsonValue, contentType: string | undefined): string | undefined {
  return orProblem(() => {
    const format = bodyFormat(contentType, body);
    const isText = typeof body === 'string';
    const hasPlaceholders = placeholdersOf(body).length > 0;
    if (format === undefined) {
      if (!isText) return `a tree can be sent as JSON or as form fields, not as ${contentType}`;
      return hasPlaceholders
        ? `placeholders cannot be written safely into ${contentType}; use JSON, form fields, XML or text/plain`
        : undefined;
    }
    if (format === 'json' && isText && wholePlaceholder(parseTemplate(body)) === undefined) {
      return 'write a JSON body as a tree, so that its values keep their types';
    }
    if (format === 'form' && !isText && !isJsonObject(body)) return 'form fields are names with values';
    return (format === 'plain' || format === 'markup') && !isText
      ? `a tree can be sent as JSON or as form fields, not as ${contentType}`
      : undefined;
  });
}

function noteTree(
  tree: JsonValue,
  at: TemplateProblem['at'],
  inputSchema: JsonSchema,
  note: (at: TemplateProblem['at'], message: string | undefined) => void,
): void {
  if (typeof tree === 'string') note(at, inputsProblem(tree, inputSchema));
  else if (Array.isArray(tree)) {
    tree.forEach((entry: JsonValue, index) => {
      noteTree(entry, [...at, index], inputSchema, note);
    });
  } else if (isJsonObject(tree)) {
    for (const [name, entry] of Object.entries(tree)) {
      if (name.includes('{{')) note([...at, name], KEY_PROBLEM);
      noteTree(entry, [...at, name], inputSchema, note);
    }
  }
}

function inputsProblem(template: JsonValue, inputSchema: JsonSchema): string | undefined {
  return orProblem(() => {
    const unknown = placeholdersOf(template).find(
      (path) => declarationOf(asSchema(inputSchema), path) === 'unknown',
    );
    return unknown && `{{input.${unknown.join('.')}}} names no property of the input schema`;
  });
}

function asSchema(schema: JsonSchema) {
  const json = toJson(schema);
  return isJsonObject(json) ? json : {};
}

function orProblem(find: () => string | undefined): string | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof DefinitionError) return error.message;
    throw error;
  }
}

const COMPOSED = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

type Declaration = 'required' | 'optional' | 'unknown';

/** Tells whether a JSON Schema of an object declares the property at a path, and whether it is required. */
function declarationOf(schema: JsonObject, path: InputPath): Declaration {
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
