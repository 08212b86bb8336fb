import { z } from 'zod';
import type { JsonSchema } from '../../agent/schema/compile-schema.ts';

const KEYWORD = 'x-mcp-header';
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['default', 'const', 'enum', 'examples']);
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
const Token = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
const Node = z.record(z.string(), z.unknown());

/**
 * Returns the first problem with the parameters that a schema wants to be sent as HTTP headers too. The protocol wants a tool with
 * such a problem left out: its server would refuse the call or read another value than the one in the arguments.
 */
export function headerParameterProblem(inputSchema: JsonSchema): string | undefined {
  const names = new Set<string>();

  const problemOf = (schema: Readonly<Record<string, unknown>>, isParameter: boolean): string | undefined => {
    if (!(KEYWORD in schema)) return undefined;
    if (!isParameter) return `"${KEYWORD}" is only allowed on a parameter`;
    const name = Token.safeParse(schema[KEYWORD]).data;
    if (name === undefined) return `"${KEYWORD}" is not the name of a header`;
    if (!TYPES.has(schema.type)) return `"${KEYWORD}" needs a string, an integer or a boolean`;
    if (names.has(name.toLowerCase())) return `"${KEYWORD}" names "${name}" twice`;
    names.add(name.toLowerCase());
    return undefined;
  };

  const visit = (value: unknown, isReachable: boolean, isParameter: boolean): string | undefined => {
    if (Array.isArray(value)) return firstOf(value, (item) => visit(item, false, false));
    const schema = Node.safeParse(value).data;
    if (schema === undefined) return undefined;
    const problem = problemOf(schema, isParameter);
    if (problem !== undefined) return problem;
    return firstOf(Object.entries(schema), ([key, child]) => {
      if (DATA.has(key)) return undefined;
      const properties = key === 'properties' ? Node.safeParse(child).data : undefined;
      if (properties === undefined) return visit(child, false, false);
      return firstOf(Object.values(properties), (property) => visit(property, isReachable, isReachable));
    });
  };

  return visit(inputSchema, true, false);
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
