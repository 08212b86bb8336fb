import { checkReplies } from './check-replies.ts';
import { DefinitionError, ModelError } from './errors.ts';
import {
  type FinishReason,
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  type ToolPart,
  type Usage,
  userMessage,
} from './messages.ts';
import type { Model, ModelFinish, ModelReply, ModelRequest, ToolSpec } from './model.ts';
import { currentCall } from './nested.ts';
import { type ParsedCall, parseCalls } from './parse-calls.ts';
import type { Resume } from './replies.ts';
import { type RunSettings, runCall } from './run-call.ts';
import { appendResults, applyReplies, type RunOptions, typedInterrupts, withRunSettings } from './settle.ts';
import { type InterruptOf, indexTools, type Tool } from './tool.ts';
import { Transcript } from './transcript.ts';
import { trimHistory } from './trim-history.ts';

export interface GenerateOptions<Tools extends readonly Tool[] = readonly Tool[]> extends RunOptions {
  readonly model: Model;
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
}

interface ResponseBody<Tools extends readonly Tool[]> {
  readonly interrupts: readonly InterruptOf<Tools[number]>[];
  readonly messages: readonly Message[];
  /** The messages that this call added. */
  readonly newMessages: readonly Message[];
  /** The latest text of the model. */
  readonly text: string;
  /** The tokens used since a person last spoke, pauses included. */
  readonly usage: Usage;
}

type FinishWithoutError = Exclude<FinishReason, 'model-error'>;
type Ending =
  | { readonly finishReason: FinishWithoutError }
  | { readonly finishReason: 'model-error'; readonly error: ModelError };

export type GenerateResponse<Tools extends readonly Tool[] = readonly Tool[]> = ResponseBody<Tools> & Ending;

export const DEFAULT_MAX_STEPS = 20;

/**
 * Lets the model work with its tools until it has an answer, a tool pauses, or a limit ends it. `resume` answers the calls that wait;
 * every reply is checked before any tool runs.
 */
export async function generate<const Tools extends readonly Tool[] = readonly []>(
  options: GenerateOptions<Tools>,
): Promise<GenerateResponse<Tools>> {
  const outer = currentCall();
  if (outer === undefined) return runLoop(options);
  return outer.generate(
    options.signal,
    (nested) => runLoop({ ...options, ...nested }),
    (messages, finishReason) =>
      buildResponse<Tools>(Transcript.of(messages), messages.length, { finishReason }),
  );
}

async function runLoop<Tools extends readonly Tool[]>(
  options: GenerateOptions<Tools>,
): Promise<GenerateResponse<Tools>> {
  checkOptions(options);
  const tools = indexTools(options.tools ?? []);
  const transcript = Transcript.of(options.messages);
  const given = transcript.messages.length;
  const replies = checkReplies(transcript, tools, options.resume ?? {}, { all: true });
  const ending = await withRunSettings(options, async (settings) => {
    await applyReplies(transcript, replies, settings);
    if (options.prompt !== undefined) transcript.append(userMessage(options.prompt));
    return runSteps(transcript, tools, settings, options);
  });
  return buildResponse<Tools>(transcript, given, ending);
}

function buildResponse<Tools extends readonly Tool[]>(
  transcript: Transcript,
  given: number,
  ending: Ending,
): GenerateResponse<Tools> {
  const { messages, text, usage } = transcript;
  const newMessages = messages.slice(given);
  return { ...ending, interrupts: typedInterrupts<Tools>(transcript), messages, newMessages, text, usage };
}

async function runSteps(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  settings: RunSettings,
  { model, system, onText, contextBudget, maxSteps = DEFAULT_MAX_STEPS }: GenerateOptions,
): Promise<Ending> {
  const specs = [...tools.values()].map(toolSpec);
  const { signal } = settings;
  for (;;) {
    if (transcript.isWaiting) return { finishReason: 'interrupted' };
    if (signal.aborted) return { finishReason: 'aborted' };
    if (transcript.steps >= maxSteps) return { finishReason: 'max-steps' };

    const history =
      contextBudget === undefined ? transcript.history : trimHistory(transcript.history, contextBudget);
    const reply = await askModel(model, { system, history, tools: specs, signal, onText });
    if (reply instanceof ModelError) return { finishReason: 'model-error', error: reply };
    const calls = INCOMPLETE.has(reply.finish)
      ? []
      : parseCalls(reply.calls, reply.finish, transcript, tools);
    appendReply(transcript, reply, calls);
    appendResults(transcript, await runCalls(calls, settings));

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

async function askModel(model: Model, request: ModelRequest): Promise<ModelReply | ModelError> {
  try {
    const reply = await model.reply(request);
    // A model may be the caller's own code; results of tools that ran before it must not be lost.
    const isValid = typeof reply?.text === 'string' && Array.isArray(reply.calls);
    const problem = `The model "${model.name}" must answer with a text and a list of calls`;
    return isValid ? reply : new ModelError('malformed-answer', problem);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}

function appendReply(transcript: Transcript, reply: ModelReply, calls: readonly ParsedCall[]): void {
  const content = [...(reply.text === '' ? [] : [{ text: reply.text }]), ...calls.map((call) => call.part)];
  if (content.length === 0) return;
  const { usage } = reply;
  transcript.append(
    sealMessage({
      v: MESSAGE_VERSION,
      role: 'model',
      content,
      ...(usage !== undefined && { usage: { ...usage } }),
    }),
  );
}

function runCalls(calls: readonly ParsedCall[], settings: RunSettings): Promise<ToolPart[]> {
  return Promise.all(
    calls.map((call) => (call.verdict === 'refused' ? call.answer : runCall(call.tool, call.part, settings))),
  );
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
