import { hash } from 'node:crypto';
import { z } from 'zod';
import { defineTool } from '../../agent/define-tool.ts';
import { describeError } from '../../agent/errors.ts';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import { compileSchema, type JsonSchema } from '../../agent/schema/compile-schema.ts';
import type { CompiledSchema } from '../../agent/schema/json-schema.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';

/** A server's hints about its own tool; trusted only where the manifest says so. */
export interface McpHints {
  readonly title: string | undefined;
  readonly readOnly: boolean | undefined;
  readonly destructive: boolean | undefined;
  readonly idempotent: boolean | undefined;
}

/** A tool that was left out, and the reason. */
export interface McpProblem {
  readonly tool: string;
  readonly problem: string;
}

/** The tools of a server's list that can be used, with hints and problems. */
export interface Listing {
  readonly tools: readonly Tool[];
  readonly hints: ReadonlyMap<string, McpHints>;
  /** The digest of each tool's definition as the server sent it. */
  readonly digests: ReadonlyMap<string, string>;
  readonly problems: readonly McpProblem[];
}

const hint = z.boolean().optional().catch(undefined);
const Definition = z.object({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
  annotations: z
    .object({
      title: z.string().optional().catch(undefined),
      readOnlyHint: hint,
      destructiveHint: hint,
      idempotentHint: hint,
    })
    .optional()
    .catch(undefined),
  execution: z.object({ taskSupport: z.string().optional() }).optional().catch(undefined),
});
type Definition = z.infer<typeof Definition>;

/** A tool of a server, bound to the definition that it was built from. */
export interface ListedTool {
  readonly name: string;
  readonly digest: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: CompiledSchema | undefined;
  /** Tells whether the tool can only be called as a task. */
  readonly needsTask: boolean;
}

/** A server's list of tools as it came over one connection. */
export interface ServerList {
  readonly definitions: readonly unknown[];
  /** Tells whether the connection repeats parameters as HTTP headers where a schema asks for it. */
  readonly repeatsParameters: boolean;
  /** Tells whether the server runs calls as tasks. */
  readonly offersTasks: boolean;
}

type Run = (tool: ListedTool, input: JsonObject, helpers: ToolHelpers) => Promise<unknown>;

/** Builds a tool from each definition. One that cannot be used is left out with a problem; it is never renamed or adapted. */
export function buildTools(
  { definitions, repeatsParameters, offersTasks }: ServerList,
  prefix: string,
  run: Run,
): Listing {
  const tools: Tool[] = [];
  const hints = new Map<string, McpHints>();
  const digests = new Map<string, string>();
  const problems: McpProblem[] = [];
  const counts = countNames(definitions);
  for (const [index, unparsed] of definitions.entries()) {
    const parsed = Definition.safeParse(unparsed);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const problem = `its definition cannot be read at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`;
      problems.push({ tool: nameOf(unparsed) ?? `number ${index + 1}`, problem });
      continue;
    }
    const definition = parsed.data;
    try {
      if (counts.get(definition.name) !== 1) throw new Error('the server lists several tools with this name');
      const listed = toListed(definition, definitionDigest(unparsed), repeatsParameters);
      if (listed.needsTask && !offersTasks)
        throw new Error('it can only be called as an MCP task, which its server does not offer');
      const { digest } = listed;
      const tool = buildTool(definition, prefix, (input, helpers) => run(listed, input, helpers));
      tools.push(tool);
      hints.set(tool.name, hintsIn(definition));
      digests.set(tool.name, digest);
    } catch (error) {
      problems.push({
        tool: definition.name,
        problem: describeError(error),
      });
    }
  }
  return { tools, hints, digests, problems };
}

function toListed(
  { name, inputSchema, outputSchema, execution }: Definition,
  digest: string,
  repeatsParameters: boolean,
): ListedTool {
  const problem = repeatsParameters ? headerParameterProblem(inputSchema) : undefined;
  if (problem !== undefined) throw new Error(`its inputSchema cannot be used: ${problem}`);
  const compiled = outputSchema && compileSchema<unknown>(outputSchema, name, 'outputSchema');
  const needsTask = execution?.taskSupport === 'required';
  return { name, digest, inputSchema, outputSchema: compiled, needsTask };
}

function buildTool(
  definition: Definition,
  prefix: string,
  run: (input: JsonObject, helpers: ToolHelpers) => Promise<unknown>,
): Tool {
  const { name, title, description, inputSchema } = definition;
  // Ajv would check such a schema asynchronously: every input would pass, and an invalid one would end the process.
  if ('$async' in inputSchema) throw new Error('its inputSchema has "$async", which is not supported');
  return defineTool(
    { name: `${prefix}${name}`, description: description ?? title ?? name, inputSchema },
    run,
  );
}

const given = z.unknown().optional();
const Digested = z.object({
  name: given,
  title: given,
  description: given,
  inputSchema: given,
  outputSchema: given,
  annotations: given,
  execution: given,
});

/** Computes the digest of a definition: its name, its texts, its schemas and its annotations. */
function definitionDigest(unparsed: unknown): string {
  return hash('sha256', canonicalJson(toJson(Digested.parse(unparsed))));
}

function countNames(definitions: readonly unknown[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const definition of definitions) {
    const name = nameOf(definition);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function nameOf(definition: unknown): string | undefined {
  const named = z.object({ name: z.string() }).safeParse(definition);
  return named.success ? named.data.name : undefined;
}

function hintsIn({ title, annotations }: Definition): McpHints {
  return {
    title: title ?? annotations?.title,
    readOnly: annotations?.readOnlyHint,
    destructive: annotations?.destructiveHint,
    idempotent: annotations?.idempotentHint,
  };
}

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
function headerParameterProblem(inputSchema: JsonSchema): string | undefined {
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
