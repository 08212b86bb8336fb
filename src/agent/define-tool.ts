import { z } from 'zod';
import { DefinitionError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Interrupt } from './messages.ts';
import { buildRespond, buildRestart, checkResumed, fitResumed } from './replies.ts';
import {
  compileSchema,
  type JsonSchema,
  type Parsed,
  type Schema,
  type StandardSchema,
  type Unparsed,
} from './schema/compile-schema.ts';
import type { CompiledSchema } from './schema/json-schema.ts';
import type {
  ActionTool,
  Answered,
  Effect,
  InterruptTool,
  Preview,
  PreviewHelpers,
  Reconciled,
  ToolContext,
  ToolHelpers,
  ToolTexts,
  UndoCall,
} from './tool.ts';

type NoInput = z.ZodObject<Record<never, never>>;

/** The `resumed` of a tool's function: the value of its schema, and who gave it when. */
type ResumedOf<S extends Schema> = S extends z.ZodType | StandardSchema ? Parsed<S> & Answered : JsonObject;
/** The metadata that `restart` takes. */
type MetadataOf<S extends Schema> = S extends z.ZodType | StandardSchema
  ? Unparsed<S> & Answered
  : JsonObject;

export interface ToolConfig<Name extends string, Input extends Schema, Output extends Schema> {
  readonly name: Name;
  readonly description: string;
  readonly inputSchema?: Input;
  readonly outputSchema?: Output;
}

export interface ActionConfig<
  Name extends string,
  Input extends Schema,
  Output extends Schema,
  Resumed extends Schema = JsonSchema,
> extends ToolConfig<Name, Input, Output>,
    ToolTexts<Parsed<Input>> {
  /** The schema of the metadata that `restart` gives to the function; it describes an object. */
  readonly resumedSchema?: Resumed;
  /** Makes calls wait for a person's yes before they run; `approve` gives it. */
  readonly needsApproval?: boolean | ((input: Parsed<Input>) => boolean | Promise<boolean>);
  /** The effect of a run; `once` where it is not declared. */
  readonly effect?: Effect;
  /** Computes what a call would change. It must not write. */
  readonly preview?: (input: Parsed<Input>, helpers: PreviewHelpers) => Preview | Promise<Preview>;
  /** Names the call that takes back what a call did; people are asked for it as for any other call. */
  readonly undo?: (input: Parsed<Input>, output: JsonValue) => UndoCall | undefined;
  /** Finds out whether a call took effect whose worker died in the middle of it. */
  readonly reconcile?: (idempotencyKey: string, input: Parsed<Input>) => Promise<Reconciled>;
  /** The longest run; after it the tool's signal fires, and whether the call took effect is unknown. */
  readonly timeoutMs?: number;
}

export interface InterruptConfig<Name extends string, Input extends Schema, Output extends Schema>
  extends ToolConfig<Name, Input, Output> {
  /** The metadata of the interrupt, or a function that computes it from the input of the call. */
  readonly requestMetadata?: JsonObject | ((input: Parsed<Input>) => JsonObject | Promise<JsonObject>);
}

/** Defines a tool that the model may call. Its function may pause with `interrupt`; `restart` runs it again. */
export function defineTool<
  const Name extends string,
  Input extends Schema = NoInput,
  Output extends Schema = z.ZodUnknown,
  Resumed extends Schema = JsonSchema,
  Context extends ToolContext = ToolContext,
>(
  config: ActionConfig<Name, Input, Output, Resumed>,
  run: (
    input: Parsed<Input>,
    helpers: ToolHelpers<Context, ResumedOf<Resumed>>,
  ) => Unparsed<Output> | Promise<Unparsed<Output>>,
): ActionTool<Name, Parsed<Input>, Unparsed<Input>, Unparsed<Output>, MetadataOf<Resumed>> {
  const { timeoutMs, needsApproval } = config;
  const parts = compileConfig(config);
  if (typeof run !== 'function') {
    throw new DefinitionError(
      'missing-function',
      `Tool "${parts.name}": defineTool needs a function as its second argument; a tool that only asks is a defineInterrupt`,
      parts.name,
    );
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new DefinitionError(
      'invalid-option',
      `Tool "${parts.name}": timeoutMs must be above 0`,
      parts.name,
    );
  }
  // Without a schema of its own, a tool takes every object.
  const resumedSchema = compileSchema<ResumedOf<Resumed>>(
    config.resumedSchema ?? { type: 'object' },
    parts.name,
    'resumedSchema',
  );
  if (resumedSchema.jsonSchema.type !== undefined) requireObject(resumedSchema, parts.name, 'resumedSchema');
  const { title, done, target, fields } = config;
  const tool = {
    ...parts,
    kind: 'tool' as const,
    texts: {
      ...(title !== undefined && { title }),
      ...(done !== undefined && { done }),
      ...(target !== undefined && { target }),
      ...(fields !== undefined && { fields }),
    },
    // A restart that only lets the call run (the approval of a gate) fits no schema of the tool: to its function it is the first run.
    run: (input: Parsed<Input>, helpers: ToolHelpers<Context>) =>
      run(input, { ...helpers, resumed: fitResumed(resumedSchema, helpers.resumed) }),
    resumedSchema: config.resumedSchema && resumedSchema,
    ...(needsApproval !== undefined && {
      needsApproval: (input: Parsed<Input>) =>
        typeof needsApproval === 'function' ? needsApproval(input) : needsApproval,
    }),
    effect: config.effect ?? 'once',
    ...(config.preview !== undefined && { preview: config.preview }),
    ...(config.undo !== undefined && { undo: config.undo }),
    ...(config.reconcile !== undefined && { reconcile: config.reconcile }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    respond: (interrupt: Interrupt, output: Unparsed<Output>) => buildRespond(tool, interrupt, output),
    restart: (
      interrupt: Interrupt,
      metadata: unknown = {},
      options: { readonly replaceInput?: Unparsed<Input> } = {},
    ) => buildRestart(tool, interrupt, checkResumed(tool, interrupt, metadata), options),
  };
  return tool;
}

/** Defines a tool that always pauses: the model asks, and `respond` supplies the output. */
export function defineInterrupt<
  const Name extends string,
  Input extends Schema = NoInput,
  Output extends Schema = z.ZodUnknown,
>(
  config: InterruptConfig<Name, Input, Output>,
): InterruptTool<Name, Parsed<Input>, Unparsed<Input>, Unparsed<Output>> {
  const { requestMetadata } = config;
  const tool = {
    ...compileConfig(config),
    kind: 'interrupt' as const,
    ...(requestMetadata !== undefined && {
      requestMetadata: (input: Parsed<Input>) =>
        typeof requestMetadata === 'function' ? requestMetadata(input) : requestMetadata,
    }),
    respond: (interrupt: Interrupt, output: Unparsed<Output>) => buildRespond(tool, interrupt, output),
  };
  return tool;
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function compileConfig<Name extends string, Input extends Schema, Output extends Schema>(
  config: ToolConfig<Name, Input, Output>,
) {
  const { name, description } = config;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw new DefinitionError(
      'invalid-name',
      `Tool "${name}": a name has 1 to 64 letters, digits, "_" or "-"; models refuse any other`,
      name,
    );
  }
  const inputSchema = compileSchema<Parsed<Input>>(config.inputSchema ?? z.object({}), name, 'inputSchema');
  requireObject(inputSchema, name, 'inputSchema');
  return {
    name,
    description,
    inputSchema,
    outputSchema: config.outputSchema && compileSchema<unknown>(config.outputSchema, name, 'outputSchema'),
    matches: (interrupt: Interrupt): interrupt is Interrupt<Name, Unparsed<Input>> =>
      interrupt.toolRequest.name === name,
  };
}

function requireObject({ jsonSchema }: CompiledSchema, tool: string, role: string): void {
  if (jsonSchema.type === 'object') return;
  throw new DefinitionError('invalid-schema', `Tool "${tool}": its ${role} must describe an object`, tool);
}
