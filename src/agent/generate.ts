import { checkReplies } from './check-replies.ts';
import { DefinitionError, ModelError } from './errors.ts';
import { copyJson, tryParseJson } from './json.ts';
import {
  type FinishReason,
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  type ToolPart,
  type Usage,
  userMessage,
} from './messages.ts';
import {
  askModel,
  type Model,
  type ModelConfig,
  type ModelFinish,
  type ModelReply,
  type ModelRequest,
  type ToolChoice,
  type ToolSpec,
} from './model.ts';
import { currentCall } from './nested.ts';
import { type ParsedCall, parseCalls } from './parse-calls.ts';
import type { Resume } from './replies.ts';
import { type RunSettings, runCall } from './run-call.ts';
import { type CompiledSchema, compileSchema, type Parsed, type Schema } from './schema/compile-schema.ts';
import { appendResults, applyReplies, type RunOptions, typedInterrupts, withRunSettings } from './settle.ts';
import { type InterruptOf, indexTools, type Tool } from './tool.ts';
import { Transcript } from './transcript.ts';
import { estimateHistory, trimHistory } from './trim-history.ts';

export interface GenerateOptions<
  Tools extends readonly Tool[] = readonly Tool[],
  Output extends Schema = Schema,
> extends RunOptions {
  readonly model: Model;
  /** The instructions; if left out, those that were given with the latest `prompt` of these messages. */
  readonly system?: string | undefined;
  /** The new message of a person; it comes after `messages` and after the results of `resume`. */
  readonly prompt?: string | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly tools?: Tools | undefined;
  readonly resume?: Resume | undefined;
  /** The most calls of the model after a person's message, pauses included. */
  readonly maxSteps?: number | undefined;
  /** The most tokens of history that the model is sent; without it, all of the history. */
  readonly contextBudget?: number | undefined;
  readonly onText?: ((delta: string) => void) | undefined;
  readonly config?: ModelConfig | undefined;
  /** Whether the model may or must call a tool. A demand holds for the first call of the model, or the loop would not end. */
  readonly toolChoice?: ToolChoice | undefined;
  /** The schema of the answer: it is sent to the model, and `response.output` is the parsed answer. */
  readonly outputSchema?: Output | undefined;
}

interface ResponseBody<Tools extends readonly Tool[], Output> {
  readonly interrupts: readonly InterruptOf<Tools[number]>[];
  readonly messages: readonly Message[];
  /** The messages that this call added. */
  readonly newMessages: readonly Message[];
  /** The latest text of the model. */
  readonly text: string;
  /** The tokens used since a person last spoke, pauses included. */
  readonly usage: Usage;
  /** The answer as `outputSchema` returns it; only a `stop` has one. */
  readonly output: Output | undefined;
}

type FinishWithoutError = Exclude<FinishReason, 'model-error'>;
type Ending =
  | { readonly finishReason: FinishWithoutError }
  | { readonly finishReason: 'model-error'; readonly error: ModelError };

export type GenerateResponse<
  Tools extends readonly Tool[] = readonly Tool[],
  Output = unknown,
> = ResponseBody<Tools, Output> & Ending;

export const DEFAULT_MAX_STEPS = 20;

/**
 * Lets the model work with its tools until it has an answer, a tool pauses, or a limit ends it. `resume` answers the calls that wait;
 * every reply is checked before any tool runs.
 */
export async function generate<
  const Tools extends readonly Tool[] = readonly [],
  Output extends Schema = never,
>(options: GenerateOptions<Tools, Output>): Promise<GenerateResponse<Tools, Parsed<Output>>> {
  const outer = currentCall();
  const schema =
    options.outputSchema && compileSchema<Parsed<Output>>(options.outputSchema, 'generate', 'outputSchema');
  if (outer === undefined) return runLoop(options, schema);
  return outer.generate(
    options.signal,
    (nested) => runLoop({ ...options, ...nested }, schema),
    (messages, finishReason) =>
      buildResponse<Tools, Parsed<Output>>(
        Transcript.of(messages),
        messages.length,
        { finishReason },
        schema,
      ),
  );
}

async function runLoop<Tools extends readonly Tool[], Output>(
  options: GenerateOptions<Tools>,
  schema: CompiledSchema<Output> | undefined,
): Promise<GenerateResponse<Tools, Output>> {
  checkOptions(options);
  const tools = indexTools(options.tools ?? []);
  const transcript = Transcript.of(options.messages);
  const given = transcript.length;
  const replies = checkReplies(transcript, tools, options.resume ?? {}, { all: true });
  const ending = await withRunSettings(options, transcript, async (settings) => {
    await applyReplies(transcript, replies, settings);
    const { prompt, system } = options;
    if (prompt !== undefined) transcript.append(userMessage(prompt, undefined, { system }));
    return runSteps(transcript, tools, settings, { ...options, outputSchema: schema?.jsonSchema });
  });
  return buildResponse<Tools, Output>(transcript, given, ending, schema);
}

function buildResponse<Tools extends readonly Tool[], Output>(
  transcript: Transcript,
  given: number,
  ending: Ending,
  schema: CompiledSchema<Output> | undefined,
): GenerateResponse<Tools, Output> {
  const { messages, text, usage } = transcript;
  const newMessages = messages.slice(given);
  const parsed = ending.finishReason === 'stop' ? schema?.parse(tryParseJson(text)) : undefined;
  return {
    ...(parsed?.ok === false ? { finishReason: 'invalid-output' } : ending),
    interrupts: typedInterrupts<Tools>(transcript),
    messages,
    newMessages,
    text,
    usage,
    output: parsed?.ok === true ? parsed.value : undefined,
  };
}

type StepOptions = Omit<GenerateOptions, 'outputSchema'> & Pick<ModelRequest, 'outputSchema'>;

async function runSteps(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  settings: RunSettings,
  options: StepOptions,
): Promise<Ending> {
  const {
    model,
    system = transcript.system,
    onText,
    config,
    outputSchema,
    maxSteps = DEFAULT_MAX_STEPS,
  } = options;
  const specs = [...tools.values()].map(toolSpec);
  const { signal } = settings;
  let { contextBudget, toolChoice } = options;
  let isTrimmed = false;
  for (;;) {
    if (transcript.isWaiting) return { finishReason: 'interrupted' };
    if (signal.aborted) return { finishReason: 'aborted' };
    if (transcript.steps >= maxSteps) return { finishReason: 'max-steps' };

    const history = trimHistory(transcript.history, contextBudget);
    const request = { system, history, tools: specs, signal, onText, config, toolChoice, outputSchema };
    const reply = await askModel(model, request);
    if (reply instanceof ModelError) {
      if (reply.code !== 'context-too-long' || isTrimmed)
        return { finishReason: 'model-error', error: reply };
      isTrimmed = true;
      contextBudget = Math.max(1, Math.floor(estimateHistory(history) / 2));
      continue;
    }
    if (toolChoice !== 'none') toolChoice = undefined;
    const calls = INCOMPLETE.has(reply.finish)
      ? []
      : parseCalls(reply.calls, reply.finish, transcript, tools);
    appendReply(transcript, reply, calls);
    await runCalls(transcript, calls, settings);

    if (reply.error !== undefined) return { finishReason: 'model-error', error: reply.error };
    const finishReason = finishReasonOf(reply, calls.length > 0);
    if (finishReason !== undefined) return { finishReason };
  }
}

/** Endings of an answer that leave its calls in doubt: the calls are dropped, and none of them runs. */
const INCOMPLETE: ReadonlySet<ModelFinish> = new Set(['cut', 'aborted', 'refusal', 'empty']);

/** Tells how an answer ends the loop; `undefined` means that the loop goes on. */
function finishReasonOf(reply: ModelReply, hasCalls: boolean): FinishWithoutError | undefined {
  switch (reply.finish) {
    case 'cut':
      return 'cut-stream';
    case 'empty':
      return 'empty-choice';
    case 'stop':
      if (hasCalls) return undefined;
      return reply.text === '' ? 'empty-choice' : 'stop';
    case 'length':
      return hasCalls ? undefined : 'length';
    default:
      return reply.finish;
  }
}

function appendReply(transcript: Transcript, reply: ModelReply, calls: readonly ParsedCall[]): void {
  const content = [...(reply.text === '' ? [] : [{ text: reply.text }]), ...calls.map((call) => call.part)];
  if (content.length === 0) return;
  const { usage, provider } = reply;
  // The data of an answer that is not whole would not fit what is kept of it.
  const isWhole = reply.finish === 'stop' && provider !== undefined;
  transcript.append(
    sealMessage({
      v: MESSAGE_VERSION,
      role: 'model',
      content,
      ...(usage !== undefined && { usage: { ...usage } }),
      ...(isWhole && { provider: copyJson(provider) }),
    }),
  );
}

async function runCalls(
  transcript: Transcript,
  calls: readonly ParsedCall[],
  settings: RunSettings,
): Promise<void> {
  const refused = calls.filter((call) => call.verdict === 'refused');
  // A process that takes over runs the calls that the journal finds without a result, so those that must not run get theirs first.
  const isSplit = settings.journal !== undefined && refused.length > 0;
  if (isSplit)
    appendResults(
      transcript,
      refused.map(({ answer }) => answer),
    );
  const parts = calls.flatMap((call): (ToolPart | Promise<ToolPart>)[] => {
    if (call.verdict === 'runnable') return [runCall(call.tool, call.part, settings)];
    return isSplit ? [] : [call.answer];
  });
  appendResults(transcript, await Promise.all(parts));
}

function toolSpec({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema: inputSchema.jsonSchema };
}

function checkOptions(options: GenerateOptions): void {
  requirePositive('maxSteps', options.maxSteps);
  requirePositive('contextBudget', options.contextBudget);
  if (options.prompt === undefined && (options.messages ?? []).length === 0) {
    throw new DefinitionError('invalid-option', 'generate needs a prompt or messages');
  }
  // A restarted tool may pause again, and a prompt cannot follow a call that waits.
  if (options.prompt !== undefined && (options.resume?.restart ?? []).length > 0) {
    throw new DefinitionError(
      'invalid-option',
      'generate takes no prompt beside resume.restart; settle those first',
    );
  }
}

function requirePositive(option: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return;
  throw new DefinitionError('invalid-option', `${option} must be a whole number above 0, not ${value}`);
}
