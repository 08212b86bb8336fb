import { z } from 'zod';
import { ReplyError } from './errors.ts';
import { type JsonObject, type JsonValue, toJson } from './json.ts';
import type { Interrupt } from './messages.ts';
import { effectiveInput } from './schema/compile-schema.ts';
import type { Tool } from './tool.ts';

const Json: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);
const JsonRecord = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A reply that supplies an output. Plain JSON: it may be made in another process than the one that takes it. */
export const RespondReply = z.strictObject({
  toolResponse: z.strictObject({ name: z.string(), ref: z.string(), output: Json }),
  metadata: z.strictObject({ interruptId: z.string() }),
});
export type RespondReply = Readonly<z.infer<typeof RespondReply>>;

/** A reply that ends a call without a run and without an output; the model sees the status and the reason. */
export const CloseReply = z.strictObject({
  toolRequest: z.strictObject({ name: z.string(), ref: z.string() }),
  metadata: z.strictObject({
    interruptId: z.string(),
    status: z.string().regex(/^[a-z][a-z-]*$/),
    reason: z.string(),
  }),
});
export type CloseReply = Readonly<z.infer<typeof CloseReply>>;

/** The replies with which a paused loop goes on. */
export interface Resume {
  readonly respond?: readonly RespondReply[] | undefined;
  readonly restart?: readonly RestartReply[] | undefined;
  readonly close?: readonly CloseReply[] | undefined;
}

/** A reply that runs the tool again. `replacedInput` is the input the model gave, where another one is to run. */
export interface RestartReply {
  readonly toolRequest: { readonly name: string; readonly ref: string; readonly input: JsonValue };
  readonly metadata: {
    readonly interruptId: string;
    /** What the tool is told; without it, what it had been told when it paused. */
    readonly resumed?: JsonObject | undefined;
    readonly replacedInput?: JsonValue | undefined;
    /** The replies to the interrupts of the `generate` calls inside the tool. */
    readonly nested?: Resume | undefined;
  };
}

export const RestartReply: z.ZodType<RestartReply> = z.strictObject({
  toolRequest: z.strictObject({ name: z.string(), ref: z.string(), input: Json }),
  metadata: z.strictObject({
    interruptId: z.string(),
    resumed: JsonRecord.optional(),
    replacedInput: Json.optional(),
    get nested() {
      return Resume.optional();
    },
  }),
});

export const Resume: z.ZodType<Resume> = z.strictObject({
  respond: z.array(RespondReply).optional(),
  restart: z.array(RestartReply).optional(),
  close: z.array(CloseReply).optional(),
});

/** Builds what `tool.respond` returns; an output that does not fit the tool is refused here already. */
export function buildRespond(tool: Tool, interrupt: Interrupt, output: unknown): RespondReply {
  requireOwn(tool, interrupt);
  const { name, ref } = interrupt.toolRequest;
  checkOutput(tool, ref, output);
  // Whoever takes the reply parses it again, and a schema that changes values can parse only what it has not changed yet.
  return { toolResponse: { name, ref, output: toJson(output) }, metadata: { interruptId: interrupt.id } };
}

/** Builds what `tool.restart` returns; a new input that does not fit the tool is refused here already. */
export function buildRestart(
  tool: Tool,
  interrupt: Interrupt,
  resumed: JsonObject,
  replacement: { readonly replaceInput?: unknown },
): RestartReply {
  requireOwn(tool, interrupt);
  const { name, ref } = interrupt.toolRequest;
  const given = toJson(interrupt.toolRequest.input);
  const base = { interruptId: interrupt.id, resumed: checkMetadata(tool, ref, resumed) };
  if (replacement.replaceInput === undefined)
    return { toolRequest: { name, ref, input: given }, metadata: base };
  return {
    toolRequest: { name, ref, input: checkInput(tool, ref, replacement.replaceInput) },
    metadata: { ...base, replacedInput: given },
  };
}

/** Restarts a call that paused because a `generate` inside its tool did, with the replies to the inner interrupts. */
export function restartNested(interrupt: Interrupt, nested: Resume): RestartReply {
  const { name, ref, input } = interrupt.toolRequest;
  return {
    toolRequest: { name, ref, input: toJson(input) },
    metadata: { interruptId: interrupt.id, nested },
  };
}

/** Ends a waiting call of any tool as, say, `expired`; the status `denied` is remembered as a denial. */
export function closeInterrupt(interrupt: Interrupt, status: string, reason: string): CloseReply {
  const { name, ref } = interrupt.toolRequest;
  return { toolRequest: { name, ref }, metadata: { interruptId: interrupt.id, status, reason } };
}

/** Checks an output against the tool's schema and gives it as it will be kept. */
export function checkOutput(tool: Tool, ref: string, output: unknown): JsonValue {
  const result = tool.outputSchema?.parse(output) ?? { ok: true, value: output };
  if (result.ok) return toJson(result.value);
  throw new ReplyError(
    'invalid-output',
    `Tool "${tool.name}", call ${ref}: the reply does not fit the output schema${at(result.field)}: ${result.problem}`,
    { tool: tool.name, ref, field: result.field },
  );
}

/** Checks a replacing input against the tool's schema and gives it as it will run. */
export function checkInput(tool: Tool, ref: string, input: unknown): JsonValue {
  const json = toJson(input);
  const result = tool.inputSchema.parse(json);
  if (result.ok) return effectiveInput(tool.inputSchema, json);
  throw new ReplyError(
    'invalid-input',
    `Tool "${tool.name}", call ${ref}: the new input does not fit the input schema${at(result.field)}: ${result.problem}`,
    { tool: tool.name, ref, field: result.field },
  );
}

function checkMetadata(tool: Tool, ref: string, metadata: unknown): JsonObject {
  const result = JsonRecord.safeParse(toJson(metadata));
  if (result.success) return result.data;
  throw new ReplyError(
    'invalid-metadata',
    `Tool "${tool.name}", call ${ref}: the metadata must be an object`,
    {
      tool: tool.name,
      ref,
      field: 'metadata',
    },
  );
}

function requireOwn(tool: Tool, interrupt: Interrupt): void {
  const { name, ref } = interrupt.toolRequest;
  if (name === tool.name) return;
  throw new ReplyError('wrong-tool', `Call ${ref} is one of "${name}", not of "${tool.name}"`, {
    tool: tool.name,
    ref,
    field: 'name',
  });
}

function at(field: string): string {
  return field === '' ? '' : ` at "${field}"`;
}
