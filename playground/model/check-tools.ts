import type { ChatTool } from './chat-request.ts';
import { badRequest, type RequestProblem } from './request-problem.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Holds tool definitions to distinct names and to the parameter schemas that OpenAI takes. */
export function checkTools(tools: readonly ChatTool[]): RequestProblem | undefined {
  const names = new Set<string>();
  for (const [index, { function: definition }] of tools.entries()) {
    if (names.has(definition.name)) {
      return badRequest(
        `Invalid 'tools[${index}].function.name': tool names must be unique, but '${definition.name}' is given twice.`,
        `tools[${index}].function.name`,
        'invalid_value',
      );
    }
    names.add(definition.name);
    const fault = findRootFault(definition.parameters, definition.strict === true);
    if (fault !== undefined) {
      return badRequest(
        `Invalid schema for function '${definition.name}': ${fault}`,
        `tools[${index}].function.parameters`,
        'invalid_function_parameters',
      );
    }
  }
  return undefined;
}

function findRootFault(parameters: Schema | undefined, strict: boolean): string | undefined {
  // Parameters left out mean a function without any.
  if (parameters === undefined) return undefined;
  if (parameters.type !== 'object') {
    const type = typeof parameters.type === 'string' ? parameters.type : 'None';
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  if (['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((keyword) => parameters[keyword] !== undefined)) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  if (!isSchema(parameters.properties)) return 'In context=(), object schema missing properties.';
  return findFault(parameters, [], strict);
}

function findFault(schema: Schema, path: readonly string[], strict: boolean): string | undefined {
  const context = pythonTuple(path);
  if (schema.type === 'array' && schema.items === undefined && schema.prefixItems === undefined) {
    return `In context=${context}, array schema missing items.`;
  }
  const properties = isSchema(schema.properties) ? schema.properties : {};
  if (strict && schema.type === 'object') {
    if (schema.additionalProperties !== false) {
      return `In context=${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const missing = Object.keys(properties).find((key) => !required.includes(key));
    if (missing !== undefined) {
      return `In context=${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  const children = Object.entries(properties).map(([key, child]) => [['properties', key], child] as const);
  for (const [step, child] of [...children, [['items'], schema.items] as const]) {
    const fault = isSchema(child) ? findFault(child, [...path, ...step], strict) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// OpenAI prints the place as a Python tuple, with its comma after a single member.
function pythonTuple(path: readonly string[]): string {
  const members = path.map((step) => `'${step}'`).join(', ');
  return path.length === 1 ? `(${members},)` : `(${members})`;
}
