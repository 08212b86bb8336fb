import { checkReplies } from './check-replies.ts';
import { indexTools } from './define-tool.ts';
import { enclosingCall } from './enclosing-call.ts';
import { DefinitionError, ModelError } from './errors.ts';
import type { UnbrokenFinish } from './finish-reason.ts';
import { generateNested } from './generate-nested.ts';
import {
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  type ToolPart,
  type Usage,
  userMessage,
} from './messages.ts';
import type { Model, ModelFinish, ModelReply, ToolSpec } from './model.ts';
import { type ParsedCall, parseCalls } from './parse-calls.ts';
import type { Resume } from './replies.ts';
import { type RunSettings, runCall } from './run-call.ts';
import { appendResults, carryOut, ownInterrupts, runSettings, type SettleOptions } from './settle.ts';
import type { InterruptOf, Tool } from './tool.ts';
import { Transcript } from './transcript.ts';
import { trimHistory } from './trim-history.ts';
import { withOwnSignal } from './with-own-signal.ts';

export interface GenerateOptions<Tools extends readonly Tool[] = readonly Tool[]>
  extends Pick<SettleOptions<Tools>, 'context' | 'signal' | 'onProgress' | 'onToolError'> {
  readonly model: Model;
  readonly system?: string | undefined;
  /** What a person says now; it comes after `messages` and after the results of `resume`. */
  readonly prompt?: string | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly tools?: Tools | undefined;
  readonly resume?: Resume | undefined;
  /** How often the model may be called since a person last spoke, pauses included. */
  readonly maxSteps?: number | undefined;
  /** How many tokens of history the model is sent at most; without it, all of it. */
  readonly contextBudget?: number | undefined;
  readonly onText?: ((delta: string) => void) | undefined;
}

interface ResponseBody<Tools extends readonly Tool[]> {
  readonly interrupts: readonly InterruptOf<Tools[number]>[];
  readonly messages: readonly Message[];
  /** What this call added to the messages it was given. */
  readonly newMessages: readonly Message[];
  /** What the model said last. */
  readonly text: string;
  /** Tokens used since a person last spoke, pauses included. */
  readonly usage: Usage;
}

type Ending =
  | { readonly finishReason: UnbrokenFinish }
  | { readonly finishReason: 'model-error'; readonly error: ModelError };

export type GenerateResponse<Tools extends readonly Tool[] = readonly Tool[]> = ResponseBody<Tools> & Ending;

export const DEFAULT_MAX_STEPS = 20;

/**
 * Lets the model work with its tools until it has an answer, a tool pauses, or a limit ends it. What waits is answered
 * with `resume`; every reply is checked before any tool runs.
 */
export async function generate<const Tools extends readonly Tool[] = readonly []>(
  options: GenerateOptions<Tools>,
): Promise<GenerateResponse<Tools>> {
  const outer = enclosingCall();
  return outer === undefined ? runLoop(options) : generateNested(outer, options, runLoop);
}

function runLoop<Tools extends readonly Tool[]>(
  options: GenerateOptions<Tools>,
): Promise<GenerateResponse<Tools>> {
  return withOwnSignal(options.signal, (signal) => run({ ...options, signal }));
}

async function run<Tools extends readonly Tool[]>(
  options: GenerateOptions<Tools> & { readonly signal: AbortSignal },
): Promise<GenerateResponse<Tools>> {
  checkOptions(options);
  const tools = indexTools(options.tools ?? []);
  const transcript = Transcript.from(options.messages);
  const given = transcript.messages.length;
  const replies = checkReplies(transcript, tools, options.resume ?? {}, { all: true });
  const settings = runSettings(options);

  await carryOut(transcript, replies, settings);
  if (options.prompt !== undefined) transcript.append(userMessage(options.prompt));
  const ending = await takeSteps(transcript, tools, settings, options);

  const messages = transcript.seal();
  return {
    ...ending,
    interrupts: ownInterrupts<Tools>(transcript),
    messages,
    newMessages: messages.slice(given),
    text: transcript.text,
    usage: transcript.usage,
  };
}

async function takeSteps(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  settings: RunSettings,
  options: GenerateOptions,
): Promise<Ending> {
  const specs = [...tools.values()].map(specOf);
  const maxSteps = options.maxSteps ?? DEFAULT_MAX_STEPS;
  for (;;) {
    if (transcript.isWaiting) return { finishReason: 'interrupted' };
    if (settings.signal.aborted) return { finishReason: 'aborted' };
    if (transcript.steps >= maxSteps) return { finishReason: 'max-steps' };

    const reply = await askModel(transcript, specs, options);
    if (reply instanceof ModelError) return { finishReason: 'model-error', error: reply };
    const calls = BROKEN_OFF.has(reply.finish)
      ? []
      : parseCalls(reply.calls, reply.finish, transcript, tools);
    appendReply(transcript, reply, calls);
    appendResults(transcript, await runCalls(calls, settings));

    if (reply.error !== undefined) return { finishReason: 'model-error', error: reply.error };
    const ended = endOf(reply, calls.length > 0);
    if (ended !== undefined) return { finishReason: ended };
  }
}

/** Ways in which an answer ends that leave its calls in doubt: they are dropped, and none of them runs. */
const BROKEN_OFF: ReadonlySet<ModelFinish> = new Set(['cut', 'aborted', 'refusal', 'empty']);

function endOf(reply: ModelReply, hasCalls: boolean): UnbrokenFinish | undefined {
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

async function askModel(
  transcript: Transcript,
  tools: readonly ToolSpec[],
  options: GenerateOptions,
): Promise<ModelReply | ModelError> {
  const { history } = transcript;
  try {
    return await options.model.reply({
      system: options.system,
      history: options.contextBudget === undefined ? history : trimHistory(history, options.contextBudget),
      tools,
      signal: options.signal,
      onText: options.onText,
    });
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
    sealMessage({ v: MESSAGE_VERSION, role: 'model', content, ...(usage !== undefined && { usage }) }),
  );
}

function runCalls(calls: readonly ParsedCall[], settings: RunSettings): Promise<ToolPart[]> {
  return Promise.all(
    calls.map((call) => (call.verdict === 'refused' ? call.answer : runCall(call.tool, call.part, settings))),
  );
}

function specOf(tool: Tool): ToolSpec {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema.jsonSchema };
}

function checkOptions(options: GenerateOptions): void {
  requirePositive('maxSteps', options.maxSteps);
  requirePositive('contextBudget', options.contextBudget);
  if (options.prompt === undefined && (options.messages ?? []).length === 0) {
    throw new DefinitionError('invalid-option', 'generate needs a prompt or messages');
  }
  // A restarted tool may pause again, and then there would be no place for what the person says.
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
