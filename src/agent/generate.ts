import { currentCall } from './calls/nested.ts';
import { checkReplies } from './check-replies.ts';
import { DefinitionError } from './errors.ts';
import { tryParseJson } from './json.ts';
import { type Interrupt, type Message, type Usage, userMessage } from './messages.ts';
import type { Replies } from './replies.ts';
import { type Ending, runSteps, type StepOptions } from './run-steps.ts';
import { compileSchema, type Parsed, type Schema } from './schema/compile-schema.ts';
import type { CompiledSchema } from './schema/json-schema.ts';
import { applyReplies, type RunOptions, typedInterrupts, withRunSettings } from './settle.ts';
import { type InterruptOf, indexTools, type ToolIn, type ToolSet } from './tool.ts';
import { Transcript } from './transcript.ts';

export interface GenerateOptions<Tools extends ToolSet = ToolSet, Output extends Schema = Schema>
  extends RunOptions,
    StepOptions {
  /** The new message of a person; it comes after `messages` and after the results of `resume`. */
  readonly prompt?: string | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly tools?: Tools | undefined;
  readonly resume?: Replies | undefined;
  /** The schema of the answer: it is sent to the model, and `response.output` is the parsed answer. */
  readonly outputSchema?: Output | undefined;
}

interface ResponseBody<Tools extends ToolSet, Output> {
  readonly interrupts: readonly InterruptOf<ToolIn<Tools>>[];
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

export type GenerateResponse<Tools extends ToolSet = ToolSet, Output = unknown> = ResponseBody<
  Tools,
  Output
> &
  Ending;

/** Returns the calls that wait in messages, such as those that were kept while people decide. */
export function interruptsIn(messages: readonly Message[]): readonly Interrupt[] {
  return Transcript.of(messages).interrupts;
}

/**
 * Lets the model work with its tools until it has an answer, a tool pauses, or a limit ends it. `resume` answers the calls that wait;
 * every reply is checked before any tool runs.
 */
export async function generate<const Tools extends ToolSet = readonly [], Output extends Schema = never>(
  options: GenerateOptions<Tools, Output>,
): Promise<GenerateResponse<Tools, Parsed<Output>>> {
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

async function runLoop<Tools extends ToolSet, Output>(
  options: GenerateOptions<Tools>,
  schema: CompiledSchema<Output> | undefined,
): Promise<GenerateResponse<Tools, Output>> {
  checkOptions(options);
  const tools = indexTools(options.tools ?? []);
  const transcript = Transcript.of(options.messages);
  const given = transcript.length;
  const replies = checkReplies(transcript, tools, options.resume ?? {}, { all: true });
  // A restarted tool may pause again, and a prompt cannot follow a call that waits.
  if (options.prompt !== undefined && replies.some(({ kind }) => kind === 'restart')) {
    const problem = 'generate takes no prompt beside a reply that restarts a tool; settle those first';
    throw new DefinitionError('invalid-option', problem);
  }
  const ending = await withRunSettings(options, transcript, async (settings) => {
    await applyReplies(transcript, replies, settings);
    const { prompt, system } = options;
    if (prompt !== undefined) transcript.append(userMessage(prompt, undefined, { system }));
    return runSteps(transcript, tools, settings, { ...options, outputSchema: schema?.jsonSchema });
  });
  return buildResponse<Tools, Output>(transcript, given, ending, schema);
}

function buildResponse<Tools extends ToolSet, Output>(
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

function checkOptions(options: GenerateOptions): void {
  requireModel(options.model);
  requirePositive('maxSteps', options.maxSteps);
  requirePositive('contextBudget', options.contextBudget);
  if (options.prompt === undefined && (options.messages ?? []).length === 0) {
    throw new DefinitionError('invalid-option', 'generate needs a prompt or messages');
  }
}

function requirePositive(option: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return;
  throw new DefinitionError('invalid-option', `${option} must be a whole number above 0, not ${value}`);
}

function requireModel(model: unknown): void {
  const isObject = typeof model === 'object' && model !== null;
  if (isObject && 'reply' in model && typeof model.reply === 'function') return;
  const name = typeof model === 'string' ? JSON.stringify(model) : '"gpt-6-luna"';
  const given = isObject ? 'an object without a function "reply"' : JSON.stringify(model);
  const problem = `model must be a model such as openAIModel({ model: ${name}, apiKey }), not ${given}`;
  throw new DefinitionError('invalid-option', problem);
}
