import { describeError } from '../../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Preview, ReadingInit, Tool, ToolContext, UndoCall } from '../../agent/tool.ts';
import type { ApproverLookup } from '../../policy/policy.ts';
import {
  fillDisplayTemplate,
  missingOutputs,
  parseDisplayTemplate,
  placeholdersIn,
  placeholderValue,
  type TemplateValues,
} from './text-template.ts';

/** A preview of the manifest: a tool that only reads, its input, and what its output says about before and after. */
export interface PreviewDeclaration {
  readonly tool: string;
  readonly input: JsonObject;
  readonly before: string;
  readonly after: string;
}

/** The outcome of a preview. A failed one has its reason in words. */
export type PreviewOutcome =
  | {
      readonly outcome: 'shown';
      readonly before: string;
      readonly after: string;
      /** What is there now as a value, where the text before is nothing else. */
      readonly value?: JsonValue | undefined;
      /** The paths that the answer does not have, so that something is missing in the texts. */
      readonly missing?: readonly string[] | undefined;
    }
  | { readonly outcome: 'failed'; readonly reason: 'too-slow' | 'error' };

/** Computes what a call would change; it cannot write, and it ends in time. */
export type PreviewSource = (input: unknown, context: ToolContext) => Promise<PreviewOutcome>;

/** Runs a tool that only reads; any other is refused. */
export type ReadTool = (
  name: string,
  input: JsonObject,
  options: { readonly context: ToolContext; readonly signal: AbortSignal },
) => Promise<unknown>;

const TIMEOUT_MS = 5_000;
const MAX_LENGTH = 20_000;

type Action = Extract<Tool, { kind: 'tool' }>;

/** Builds the preview of a tool from the manifest, which goes first, or from the module; `undefined` if it has none. */
export function createPreview(
  tool: Action,
  declared: PreviewDeclaration | undefined,
  read: ReadTool,
  log: (message: string) => void = () => {},
): PreviewSource | undefined {
  const compute = declared === undefined ? ownPreview(tool, read) : declaredPreview(declared, read);
  if (compute === undefined) return undefined;
  return async (input, context) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const late = new Promise<'late'>((resolve) => {
      signal.addEventListener('abort', () => resolve('late'), { once: true });
    });
    try {
      const result = await Promise.race([compute(input, context, signal), late]);
      if (result === 'late') return { outcome: 'failed', reason: 'too-slow' };
      const { before, after, value, missing } = result;
      if (before.length + after.length > MAX_LENGTH) throw new RangeError('the preview is too long');
      return {
        outcome: 'shown',
        before,
        after,
        ...(value !== undefined && { value }),
        ...(missing !== undefined && { missing }),
      };
    } catch (error) {
      log(`the preview of ${tool.name} failed: ${describeError(error)}`);
      return { outcome: 'failed', reason: signal.aborted ? 'too-slow' : 'error' };
    }
  };
}

type Compute = (
  input: unknown,
  context: ToolContext,
  signal: AbortSignal,
) => Promise<
  Preview & {
    readonly value?: JsonValue | undefined;
    readonly missing?: readonly string[] | undefined;
  }
>;

function ownPreview(tool: Action, read: ReadTool): Compute | undefined {
  if (tool.preview === undefined) return undefined;
  return async (input, context, signal) => {
    const parsed = tool.inputSchema.parse(input);
    if (!parsed.ok) throw new TypeError(parsed.problem);
    const preview = await tool.preview?.(parsed.value, {
      context: withoutFunctions(context),
      signal,
      read: (name, given) => read(name, given, { context, signal }),
      fetch: (url, { method = 'GET', headers = {} } = {}) => fetchReading(url, { method, headers }, signal),
    });
    return requirePreview(preview);
  };
}

/** Returns a preview that has both texts; any other is a `TypeError`, because a module need not be typed. */
export function requirePreview(preview: Preview | undefined): Preview {
  if (typeof preview?.before !== 'string' || typeof preview.after !== 'string')
    throw new TypeError('a preview is an object with the texts before and after');
  return preview;
}

const READING_METHODS: readonly string[] = ['GET', 'HEAD'];

/** Fetches without a body. The method is checked here as well, because a module need not be typed. */
async function fetchReading(
  url: string | URL,
  { method, headers }: Required<ReadingInit>,
  signal: AbortSignal,
): Promise<Response> {
  if (!READING_METHODS.includes(method)) throw new Error(`a preview can only read, and ${method} can write`);
  return fetch(url, { method, headers, signal });
}

/** A function of the context could do anything, such as make the address with which a request is answered. */
function withoutFunctions(context: ToolContext): ToolContext {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => typeof value !== 'function'));
}

function declaredPreview({ tool, input, before, after }: PreviewDeclaration, read: ReadTool): Compute {
  const [beforeTemplate, afterTemplate] = [before, after].map((text) => parseDisplayTemplate(text).template);
  return async (given, context, signal) => {
    const values = { input: toJson(given) };
    const filled = fillInput(input, values);
    const output = unwrapOutput(
      toJson(await read(tool, isJsonObject(filled) ? filled : {}, { context, signal })),
    );
    const [only, ...rest] = beforeTemplate ?? [];
    const isValue = typeof only === 'object' && rest.length === 0;
    const missing = [beforeTemplate, afterTemplate].flatMap((template = []) =>
      missingOutputs(template, { ...values, output }),
    );
    return {
      ...(missing.length > 0 && { missing: [...new Set(missing)] }),
      ...(isValue && { value: placeholderValue(only, { ...values, output }) }),
      before: fillDisplayTemplate(beforeTemplate ?? [], { ...values, output }),
      after: fillDisplayTemplate(afterTemplate ?? [], { ...values, output }),
    };
  };
}

/**
 * Asks a tool that only reads for the address of an approver. Returns a text or a list as the tool gives it; `undefined` if a value for the
 * tool's input is missing.
 */
export async function lookUpEmail(
  { tool, input, email }: ApproverLookup,
  values: TemplateValues,
  read: ReadTool,
  context: ToolContext,
): Promise<JsonValue | undefined> {
  if (!hasAllValues(input, values)) return undefined;
  const filled = fillInput(input, values);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const output = await read(tool, isJsonObject(filled) ? filled : {}, { context, signal });
  const found = { ...values, output: unwrapOutput(toJson(output)) };
  return hasAllValues(email, found) ? fillInput(email, found) : undefined;
}

/** The reverse of a tool in the manifest: another tool, with its input as templates over the input, the output and the preview of the call. */
export interface UndoDeclaration {
  readonly tool: string;
  readonly input: JsonObject;
  readonly withinMs?: number | undefined;
}

/** The way to take back a call that succeeded. */
export interface UndoSource {
  /** The time after the run in which it is offered. */
  readonly withinMs: number;
  /** Computes the reverse call from what ran; `undefined` if this call cannot be taken back. */
  plan(input: JsonValue, output: JsonValue, approved?: PreviewOutcome): UndoCall | undefined;
}

const WITHIN_MS = 3_600_000;

/** Builds the reverse of a tool from the manifest, which goes first, or from the module; `undefined` if it has none. */
export function createUndo(
  tool: Pick<Action, 'inputSchema' | 'undo'>,
  declared: UndoDeclaration | undefined,
): UndoSource | undefined {
  if (declared !== undefined) return declaredUndo(declared);
  if (tool.undo === undefined) return undefined;
  return {
    withinMs: WITHIN_MS,
    plan(input, output) {
      const parsed = tool.inputSchema.parse(input);
      const call = parsed.ok ? tool.undo?.(parsed.value, output) : undefined;
      if (call === undefined) return undefined;
      const given = toJson(call.input);
      return typeof call.tool === 'string' && isJsonObject(given)
        ? { tool: call.tool, input: given }
        : undefined;
    },
  };
}

function declaredUndo({ tool, input, withinMs = WITHIN_MS }: UndoDeclaration): UndoSource {
  return {
    withinMs,
    plan(ran, output, approved) {
      const before = approved?.outcome === 'shown' ? (approved.value ?? approved.before) : undefined;
      const values = { input: ran, output, ...(before !== undefined && { preview: { before } }) };
      // A reverse call with a gap in it could touch something else.
      if (!hasAllValues(input, values)) return undefined;
      const filled = fillInput(input, values);
      return isJsonObject(filled) ? { tool, input: filled } : undefined;
    },
  };
}

/** Fills the input of a tool that the manifest calls; a text that is one placeholder keeps the type of its value. */
function fillInput(value: JsonValue, values: TemplateValues): JsonValue {
  if (typeof value === 'string') {
    const { template } = parseDisplayTemplate(value);
    const [only, ...rest] = template;
    if (typeof only === 'object' && rest.length === 0 && only.format === undefined)
      return placeholderValue(only, values) ?? null;
    return fillDisplayTemplate(template, values);
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => fillInput(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, fillInput(entry, values)]));
}

/** Tells whether every value that the texts of an input name is there. */
function hasAllValues(value: JsonValue, values: TemplateValues): boolean {
  if (typeof value === 'string') {
    const { template } = parseDisplayTemplate(value);
    return placeholdersIn(template).every((part) => placeholderValue(part, values) !== undefined);
  }
  if (Array.isArray(value)) return value.every((item: JsonValue) => hasAllValues(item, values));
  return !isJsonObject(value) || Object.values(value).every((entry) => hasAllValues(entry, values));
}

/** Output from outside is marked for the model; a template reads what is inside. */
export function unwrapOutput(output: JsonValue): JsonValue {
  return isJsonObject(output) && output.untrusted_output !== undefined ? output.untrusted_output : output;
}
