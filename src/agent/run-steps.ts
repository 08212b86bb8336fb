import { createHash, randomUUID } from 'node:crypto';
import { deniedPart, errorPart } from './calls/outcomes.ts';
import { type RunSettings, runCall } from './calls/run-call.ts';
import { ModelError } from './errors.ts';
import { estimateHistory, trimHistory } from './history.ts';
import { copyJson, findLossyNumber, isDeeperThan, type JsonValue, tryParseJson } from './json.ts';
import {
  type CallPart,
  type FinishReason,
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  type ToolPart,
} from './messages.ts';
import {
  askModel,
  type Model,
  type ModelConfig,
  type ModelFinish,
  type ModelReply,
  type ModelRequest,
  type RawCall,
  type ToolChoice,
  type ToolSpec,
} from './model.ts';
import { effectiveInput } from './schema/compile-schema.ts';
import { appendResults, type RunOptions, withRunSettings } from './settle.ts';
import { indexTools, type Tool, type ToolSet } from './tool.ts';
import { Transcript } from './transcript.ts';

/** The model of a loop, and its limits. */
export interface StepOptions {
  readonly model: Model;
  /** The instructions; if left out, those that were given with the latest `prompt` of these messages. */
  readonly system?: string | undefined;
  /** The most calls of the model after a person's message, pauses included. */
  readonly maxSteps?: number | undefined;
  /** The most tokens of history that the model is sent; without it, all of the history. */
  readonly contextBudget?: number | undefined;
  readonly onText?: ((delta: string) => void) | undefined;
  readonly config?: ModelConfig | undefined;
  /** Whether the model may or must call a tool. A demand holds for the first call of the model, or the loop would not end. */
  readonly toolChoice?: ToolChoice | undefined;
}

/** The reason why a loop ended. */
export type Ending =
  | { readonly finishReason: Exclude<FinishReason, 'model-error'> }
  | { readonly finishReason: 'model-error'; readonly error: ModelError };

const DEFAULT_MAX_STEPS = 20;

/** Asks the model and runs its calls until it has an answer, a call waits, or a limit ends it. */
export async function runSteps(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  settings: RunSettings,
  options: StepOptions & Pick<ModelRequest, 'outputSchema'>,
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

/** Exact calls that code makes, with the words beside them. */
export interface CallOptions extends RunOptions {
  readonly messages: readonly Message[];
  readonly tools: ToolSet;
  readonly calls: readonly RawCall[];
  readonly text?: string | undefined;
}

/** Makes calls as a model's answer would, without a model: each is checked, passes its gate, and has its result or its pause at the end. */
export async function callTools({
  messages,
  tools: given,
  calls,
  text = '',
  ...options
}: CallOptions): Promise<readonly Message[]> {
  const transcript = Transcript.of(messages);
  const tools = indexTools(given);
  const parsed = parseCalls(calls, 'stop', transcript, tools);
  appendReply(transcript, { finish: 'stop', text, calls, usage: undefined }, parsed);
  await withRunSettings(options, transcript, (settings) => runCalls(transcript, parsed, settings));
  return transcript.messages;
}

/** Endings of an answer that leave its calls in doubt: the calls are dropped, and none of them runs. */
const INCOMPLETE: ReadonlySet<ModelFinish> = new Set(['cut', 'aborted', 'refusal', 'empty']);

/** Tells how an answer ends the loop; `undefined` means that the loop goes on. */
function finishReasonOf(
  reply: ModelReply,
  hasCalls: boolean,
): Exclude<FinishReason, 'model-error'> | undefined {
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

/** A call that may run, or one that is answered without a run. */
type ParsedCall =
  | { readonly verdict: 'runnable'; readonly part: CallPart; readonly tool: Tool }
  | { readonly verdict: 'refused'; readonly part: CallPart; readonly answer: ToolPart };

/** No tool needs deeper arguments, and they would overflow recursive code. */
const MAX_DEPTH = 64;
const SHOWN_OF_ARGUMENTS = 200;
/** OpenAI refuses longer ids, and a history may move from a server that uses them to one that does not. */
const LONGEST_REF = 40;

/** Checks all calls of one model message before any of them runs. */
function parseCalls(
  calls: readonly RawCall[],
  finish: ModelFinish,
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
): ParsedCall[] {
  const refs = new Set<string>();
  return calls.map((call) => {
    const own = call.id.length <= LONGEST_REF ? call.id : shortRef(call.id);
    const repeats = transcript.knows(own) || refs.has(own);
    const ref = own === '' || repeats ? freshRef() : own;
    refs.add(ref);
    const parsed = parseArguments(call.arguments);
    const tool = tools.get(call.name);
    const isWhole = parsed.ok && tool !== undefined;
    const input = isWhole ? effectiveInput(tool.inputSchema, parsed.value) : parsed.value;
    const part = { toolRequest: { name: call.name, ref, input }, idempotencyKey: randomUUID() };
    const refuse = (problem: string): ParsedCall => ({
      verdict: 'refused',
      part,
      answer: errorPart(part, `Not run: ${problem}`),
    });

    if (finish === 'length') return refuse('the call was cut off by the length limit; make it shorter');
    if (finish === 'content-filter') return refuse('the answer was stopped by the content filter');
    if (repeats) return refuse(`the call id "${call.id}" was used before; every call needs an id of its own`);
    if (tool === undefined)
      return refuse(`there is no tool "${call.name}"; there are: ${[...tools.keys()].join(', ')}`);
    if (!parsed.ok) return refuse(parsed.problem);
    const fit = tool.inputSchema.parse(input);
    if (!fit.ok) {
      return refuse(
        `the arguments do not fit the schema of "${call.name}"${fit.field && ` at "${fit.field}"`}: ${fit.problem}`,
      );
    }
    const denial = transcript.denialOf(call.name, input);
    if (denial !== undefined) {
      return {
        verdict: 'refused',
        part,
        answer: deniedPart(part, `${denial} (this call was denied before; it was not asked again)`),
      };
    }
    return { verdict: 'runnable', part, tool };
  });
}

/** A UUID with its dashes and the prefix would have 41 characters. */
function freshRef(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

/** Gives the same short ref for the same long id, so that a repeated id is still found. */
function shortRef(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

type Arguments =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly value: JsonValue; readonly problem: string };

function parseArguments(text: string): Arguments {
  // Several servers send an empty text for a call without arguments.
  if (text.trim() === '') return { ok: true, value: {} };
  const value = tryParseJson(text);
  if (value === undefined) {
    return { ok: false, value: {}, problem: `the arguments are not valid JSON: ${startOf(text)}` };
  }
  if (isDeeperThan(MAX_DEPTH, value)) {
    return { ok: false, value: {}, problem: `the arguments are nested more than ${MAX_DEPTH} levels deep` };
  }
  const lossy = findLossyNumber(text);
  if (lossy !== undefined) {
    const problem = `the number ${startOf(lossy.literal)} at "${startOf(lossy.path)}" cannot be kept exactly; send it as a string`;
    return { ok: false, value: {}, problem };
  }
  return { ok: true, value };
}

function startOf(text: string): string {
  return text.length > SHOWN_OF_ARGUMENTS ? `${text.slice(0, SHOWN_OF_ARGUMENTS)}…` : text;
}
