import { z } from 'zod';
import type { OfferedTool } from './rule.ts';

/** The parts of a JSON Schema that an example is made from; whatever else is in it is ignored. */
const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  title: z.string().optional(),
  format: z.string().optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  examples: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  minItems: z.number().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
});

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:00:00Z',
  time: '09:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
};
const MAX_ITEMS = 5;
const MAX_DEPTH = 6;

/** Writes a message that calls a tool, such as `call refund_order {"orderId":"orderId","amount":1}`: the required fields, made from the schema. */
export function exampleCall({ name, schema }: OfferedTool): string {
  return `call ${name} ${JSON.stringify(exampleOf(schema ?? { type: 'object' }, 'text', 0))}`;
}

/** Says in which words any tool can be called, with an example of each. */
export function listCalls(tools: readonly OfferedTool[]): string {
  if (tools.length === 0) return 'There is no tool that I can call.';
  return `I can call any tool by name:\n${tools.map((tool) => `- \`${exampleCall(tool)}\``).join('\n')}`;
}

function exampleOf(given: unknown, name: string, depth: number): unknown {
  const { data: schema } = Schema.safeParse(given);
  if (schema === undefined || depth > MAX_DEPTH) return name;
  const [chosen] = [[schema.const], [schema.default], schema.examples ?? [], schema.enum ?? []]
    .flat()
    .filter((value) => value !== undefined);
  if (chosen !== undefined) return chosen;
  const [branch] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (branch !== undefined) return exampleOf(branch, name, depth + 1);
  const [type = 'properties' in schema ? 'object' : 'string'] = [schema.type ?? []].flat();
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key, property]) => schema.required?.includes(key) === true && !isNullable(property))
          .map(([key, property]) => [key, exampleOf(property, key, depth + 1)]),
      );
    case 'array':
      return Array.from({ length: Math.min(Math.max(schema.minItems ?? 1, 1), MAX_ITEMS) }, (_, index) =>
        exampleOf(schema.items, `${name} ${index + 1}`, depth + 1),
      );
    case 'number':
    case 'integer':
      return schema.minimum ?? (schema.exclusiveMinimum === undefined ? 1 : schema.exclusiveMinimum + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return BY_FORMAT[schema.format ?? ''] ?? name;
  }
}

/** True for a field that may be left empty: a model's schema lists it as required all the same. */
function isNullable(given: unknown): boolean {
  const { data: schema } = Schema.safeParse(given);
  const branches = [...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  return [schema?.type ?? []].flat().includes('null') || branches.some(isNullable);
}
