import { z } from 'zod';
import { DefinitionError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Interrupt } from './messages.ts';
import { buildRespond, buildRestart } from './replies.ts';
import { compileSchema, type Parsed, type Schema, type Unparsed } from './schema/compile-schema.ts';
import type { ActionTool, InterruptTool, Reconciled, Tool, ToolHelpers } from './tool.ts';

type NoInput = z.ZodObject<Record<never, never>>;

export interface ToolConfig<Name extends string, Input extends Schema, Output extends Schema> {
  readonly name: Name;
  readonly description: string;
  readonly inputSchema?: Input;
  readonly outputSchema?: Output;
}

export interface ActionConfig<Name extends string, Input extends Schema, Output extends Schema>
  extends ToolConfig<Name, Input, Output> {
  /** Says that a further run with the same idempotency key has no further effect; without it the tool never runs twice. */
  readonly idempotent?: boolean;
  /** Finds out what became of a call whose worker died in the middle of it. */
  readonly reconcile?: (idempotencyKey: string, input: Parsed<Input>) => Promise<Reconciled>;
}

/** Defines a tool the model may call. Its function may pause with `interrupt` and is run again by `restart`. */
export function defineTool<
  const Name extends string,
  Input extends Schema = NoInput,
  Output extends Schema = z.ZodUnknown,
>(
  config: ActionConfig<Name, Input, Output>,
  run: (input: Parsed<Input>, helpers: ToolHelpers) => Unparsed<Output> | Promise<Unparsed<Output>>,
): ActionTool<Name, Parsed<Input>, Unparsed<Input>, Unparsed<Output>> {
  const tool = {
    ...compileConfig(config),
    kind: 'tool' as const,
    run,
    idempotent: config.idempotent ?? false,
    ...(config.reconcile !== undefined && { reconcile: config.reconcile }),
    respond: (interrupt: Interrupt, output: Unparsed<Output>) => buildRespond(tool, interrupt, output),
    restart: (
      interrupt: Interrupt,
      metadata: JsonObject = {},
      options: { replaceInput?: Unparsed<Input> } = {},
    ) => buildRestart(tool, interrupt, metadata, options),
  };
  return tool;
}

/** Defines a tool that always pauses: the model asks, and whoever calls `respond` supplies the output. */
export function defineInterrupt<
  const Name extends string,
  Input extends Schema = NoInput,
  Output extends Schema = z.ZodUnknown,
>(
  config: ToolConfig<Name, Input, Output>,
): InterruptTool<Name, Parsed<Input>, Unparsed<Input>, Unparsed<Output>> {
  const tool = {
    ...compileConfig(config),
    kind: 'interrupt' as const,
    respond: (interrupt: Interrupt, output: Unparsed<Output>) => buildRespond(tool, interrupt, output),
  };
  return tool;
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function compileConfig<Name extends string, Input extends Schema, Output extends Schema>(
  config: ToolConfig<Name, Input, Output>,
) {
  const { name, description } = config;
  if (!TOOL_NAME.test(name)) {
    throw new DefinitionError(
      'invalid-name',
      `Tool "${name}": a name has 1 to 64 letters, digits, "_" or "-"; models refuse any other`,
      name,
    );
  }
  const inputSchema = compileSchema<Parsed<Input>>(config.inputSchema ?? z.object({}), name, 'inputSchema');
  if (inputSchema.jsonSchema.type !== 'object') {
    throw new DefinitionError(
      'invalid-schema',
      `Tool "${name}": its inputSchema must describe an object`,
      name,
    );
  }
  return {
    name,
    description,
    inputSchema,
    outputSchema: config.outputSchema && compileSchema<unknown>(config.outputSchema, name, 'outputSchema'),
    matches: (interrupt: Interrupt): interrupt is Interrupt<Name, Unparsed<Input>> =>
      interrupt.toolRequest.name === name,
  };
}

/** Finds tools by name, in a map, so that no name (`__proto__`) finds what nobody defined. */
export function indexTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new DefinitionError(
        'repeated-name',
        `Two tools are named "${tool.name}"; names must differ`,
        tool.name,
      );
    }
    byName.set(tool.name, tool);
  }
  return byName;
}
