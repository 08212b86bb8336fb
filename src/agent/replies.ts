import { z } from 'zod';
import { ReplyError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from './json.ts';
import { Json, JsonRecord } from './json-schema.ts';
import type { Interrupt } from './messages.ts';
import { effectiveInput } from './schema/compile-schema.ts';
import type { CompiledSchema, ParseResult } from './schema/json-schema.ts';

/** A reply that supplies an output. Plain JSON, so that one process can build it and another use it. */
export const RespondReply = z.strictObject({
  toolResponse: z.strictObject({ name: z.string(), ref: z.string(), output: Json }),
  metadata: z.strictObject({ interruptId: z.string(), answeredBy: z.string().optional() }),
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

/** The ways in which a waiting call ends without a run; `denied` counts as a denial. */
export const CLOSE_STATUSES = ['denied', 'expired', 'withdrawn', 'superseded', 'stopped', 'failed'] as const;
export type CloseStatus = (typeof CLOSE_STATUSES)[number];

/** The replies that continue a paused loop, by their kind. */
export interface Resume {
  readonly respond?: readonly RespondReply[] | undefined;
  readonly restart?: readonly RestartReply[] | undefined;
  readonly close?: readonly CloseReply[] | undefined;
}

/** An output written by hand, without `respond`: it answers the one call that waits under this ref. */
export type HandWrittenReply = Pick<RespondReply, 'toolResponse'> & { readonly metadata?: undefined };

/** A reply to a call that waits. */
export type Reply = RespondReply | HandWrittenReply | RestartReply | CloseReply;

type OneOrMore<Each> = Each | readonly Each[];

/** The replies as `generate` and `settle` take them: one, a list of any kinds, or by kind. */
export type Replies =
  | OneOrMore<Reply>
  | {
      readonly respond?: OneOrMore<RespondReply | HandWrittenReply> | undefined;
      readonly restart?: OneOrMore<RestartReply> | undefined;
      readonly close?: OneOrMore<CloseReply> | undefined;
    };

/** A reply that runs the tool again. `replacedInput` is the model's input, if another one is to run. */
export interface RestartReply {
  readonly toolRequest: { readonly name: string; readonly ref: string; readonly input: JsonValue };
  readonly metadata: {
    readonly interruptId: string;
    /** The metadata for the tool; without it, the tool gets the metadata of its latest restart. */
    readonly resumed?: JsonObject | undefined;
    readonly replacedInput?: JsonValue | undefined;
    /** The person who changed the call; kept with its result, if it ends at once. */
    readonly answeredBy?: string | undefined;
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
    answeredBy: z.string().optional(),
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

/** The parts of a tool that replies are checked against. */
export interface ReplyTarget {
  readonly name: string;
  readonly inputSchema: CompiledSchema;
  readonly outputSchema: CompiledSchema | undefined;
  readonly resumedSchema?: CompiledSchema | undefined;
}

/** Builds the reply of `tool.respond`; an output that does not fit the tool is refused at once. */
export function buildRespond(tool: ReplyTarget, interrupt: Interrupt, output: unknown): RespondReply {
  requireOwn(tool, interrupt);
  const { name, ref } = interrupt.toolRequest;
  checkOutput(tool, ref, output);
  // The reply carries the output as given: it is parsed again later, and a schema that transforms values cannot parse its own output.
  return { toolResponse: { name, ref, output: toJson(output) }, metadata: { interruptId: interrupt.id } };
}

/** Builds the reply of `tool.restart`; a new input that does not fit the tool is refused at once. */
export function buildRestart(
  tool: ReplyTarget,
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

/** Builds the reply that lets a call run which waits for a person's yes. */
export function approve(interrupt: Interrupt): RestartReply {
  requireInterrupt(interrupt);
  const { name, ref, input } = interrupt.toolRequest;
  return {
    toolRequest: { name, ref, input: toJson(input) },
    metadata: { interruptId: interrupt.id, resumed: { status: 'APPROVED' } },
  };
}

/** Builds the reply that ends a call as denied, without a run; the model sees the reason. */
export function reject(interrupt: Interrupt, reason = 'Rejected by a person.'): CloseReply {
  return closeInterrupt(interrupt, 'denied', reason);
}

/** Builds the reply that restarts a call whose tool paused in a `generate` of its own, with the replies to its interrupts. */
export function restartInside(interrupt: Interrupt, nested: Resume): RestartReply {
  requireInterrupt(interrupt);
  const { name, ref, input } = interrupt.toolRequest;
  return {
    toolRequest: { name, ref, input: toJson(input) },
    metadata: { interruptId: interrupt.id, nested },
  };
}

/** Builds the reply that ends a waiting call without a run, for example as `expired`. */
export function closeInterrupt(interrupt: Interrupt, status: CloseStatus, reason: string): CloseReply {
  if (!CLOSE_STATUSES.includes(status)) {
    const problem = `closeInterrupt: the status is one of ${CLOSE_STATUSES.join(', ')}, not ${JSON.stringify(status)}`;
    throw new ReplyError('malformed-reply', problem, { field: 'status' });
  }
  return buildClose(interrupt, status, reason);
}

/** Builds the reply of `closeInterrupt`, with any status: the bot has words of its own for the ends of its requests. */
export function buildClose(interrupt: Interrupt, status: string, reason: string): CloseReply {
  requireInterrupt(interrupt);
  const { name, ref } = interrupt.toolRequest;
  return { toolRequest: { name, ref }, metadata: { interruptId: interrupt.id, status, reason } };
}

/** Checks an output against the tool's schema and returns it as it will be kept. */
export function checkOutput(tool: ReplyTarget, ref: string, output: unknown): JsonValue {
  const result = tool.outputSchema?.parse(output) ?? { ok: true, value: output };
  if (result.ok) return toJson(result.value);
  throw new ReplyError(
    'invalid-output',
    `Tool "${tool.name}", call ${ref}: the reply does not fit the output schema${at(result.field)}: ${result.problem}`,
    { tool: tool.name, ref, field: result.field },
  );
}

/** Checks a new input against the tool's schema and returns it as it will run. */
export function checkInput(tool: ReplyTarget, ref: string, input: unknown): JsonValue {
  const json = toJson(input);
  const result = tool.inputSchema.parse(json);
  if (result.ok) return effectiveInput(tool.inputSchema, json);
  throw new ReplyError(
    'invalid-input',
    `Tool "${tool.name}", call ${ref}: the new input does not fit the input schema${at(result.field)}: ${result.problem}`,
    { tool: tool.name, ref, field: result.field },
  );
}

/** Checks the metadata of a restart against the tool's schema and returns it as it will be kept. */
export function checkResumed(tool: ReplyTarget, interrupt: Interrupt, metadata: unknown): JsonObject {
  requireOwn(tool, interrupt);
  const { ref } = interrupt.toolRequest;
  const resumed = checkMetadata(tool, ref, metadata);
  const result = tool.resumedSchema && parseResumed(tool.resumedSchema, resumed);
  if (result?.ok !== false) return resumed;
  throw new ReplyError(
    'invalid-metadata',
    `Tool "${tool.name}", call ${ref}: the metadata does not fit the resumed schema${at(result.field)}: ${result.problem}`,
    { tool: tool.name, ref, field: result.field },
  );
}

/** Returns the metadata of a restart as the tool's function gets it; `undefined` if it does not fit. */
export function fitResumed<Value>(
  schema: CompiledSchema<Value>,
  resumed: JsonObject | undefined,
): Value | undefined {
  const result = resumed && parseResumed(schema, resumed);
  return result?.ok === true ? result.value : undefined;
}

/** Parses the metadata of a restart; who answered and when may be beside it, also where the schema does not name them. */
function parseResumed<Value>(schema: CompiledSchema<Value>, resumed: JsonObject): ParseResult<Value> {
  const { by, at, ...rest } = resumed;
  const whole = schema.parse(resumed);
  const result = whole.ok ? whole : schema.parse(rest);
  if (!result.ok) return result;
  const answered = { ...(by !== undefined && { by }), ...(at !== undefined && { at }) };
  return { ok: true, value: Object.assign(answered, result.value) };
}

function checkMetadata(tool: ReplyTarget, ref: string, metadata: unknown): JsonObject {
  const copy = toJson(metadata);
  if (isJsonObject(copy)) return copy;
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

function requireInterrupt(interrupt: unknown): void {
  const isInterrupt = isJsonObject(interrupt) && 'id' in interrupt && isJsonObject(interrupt.toolRequest);
  if (isInterrupt) return;
  const problem = 'A reply needs an interrupt: pass one of response.interrupts';
  throw new ReplyError('malformed-reply', problem, { field: 'interrupt' });
}

function requireOwn(tool: ReplyTarget, interrupt: Interrupt): void {
  requireInterrupt(interrupt);
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
