import { ModelError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Media, ProviderData, Usage } from './messages.ts';

/** A call joined with its result: in this form of the history no call can be without one. */
export interface SettledCall {
  readonly ref: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly media?: readonly Media[] | undefined;
}

/** One item of the history in the form that a model is sent. */
export type HistoryItem =
  | { readonly role: 'user'; readonly text: string; readonly media?: readonly Media[] | undefined }
  | {
      readonly role: 'model';
      readonly text: string;
      readonly calls: readonly SettledCall[];
      readonly provider?: ProviderData | undefined;
    };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The parameters of a model. One that is left out is not sent, so that the provider's default holds. */
export interface ModelConfig {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  /** Counts the tokens of the model's reasoning as well. */
  readonly maxOutputTokens?: number | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly serviceTier?: ServiceTier | undefined;
}
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
export type ServiceTier = 'auto' | 'default' | 'flex' | 'scale' | 'priority';

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice = 'auto' | 'required' | 'none' | { readonly tool: string };

export interface ModelRequest {
  readonly system: string | undefined;
  readonly history: readonly HistoryItem[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal | undefined;
  /** Takes the text as it arrives; a model that does not stream need not call it. */
  readonly onText: ((delta: string) => void) | undefined;
  readonly config?: ModelConfig | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  /** The JSON Schema that the text of the answer must fit. */
  readonly outputSchema?: JsonObject | undefined;
}

/** A call as the model wrote it, unchecked. */
export interface RawCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The way an answer ended; `cut` means that the stream broke off, `empty` that there was nothing in it. */
export type ModelFinish = 'stop' | 'length' | 'content-filter' | 'refusal' | 'cut' | 'empty' | 'aborted';

export interface ModelReply {
  readonly finish: ModelFinish;
  readonly text: string;
  readonly calls: readonly RawCall[];
  readonly usage: Usage | undefined;
  /** The name of the model that answered, if it can be another than the first one asked. */
  readonly model?: string | undefined;
  /** The data that the provider wants back with this answer. */
  readonly provider?: ProviderData | undefined;
  /** The error that the model reported within its answer; what arrived before it is kept. */
  readonly error?: ModelError | undefined;
}

/** The port to a model. It throws only a `ModelError`; every answer, complete or not, is a `ModelReply`. */
export interface Model {
  readonly name: string;
  reply(request: ModelRequest): Promise<ModelReply>;
}

/**
 * Asks a model; a failure that it reports is returned, so that the results of tools that ran before it are kept. The text of a model that
 * does not stream is reported whole.
 */
export async function askModel(model: Model, request: ModelRequest): Promise<ModelReply | ModelError> {
  try {
    let hasStreamed = false;
    const onText =
      request.onText &&
      ((delta: string): void => {
        hasStreamed = true;
        request.onText?.(delta);
      });
    const reply = await model.reply({ ...request, onText });
    // A model may be the caller's own code.
    const isValid = typeof reply?.text === 'string' && Array.isArray(reply.calls);
    const problem = `The model "${model.name}" must answer with a text and a list of calls`;
    if (!isValid) return new ModelError('malformed-answer', problem);
    if (!hasStreamed && reply.text !== '') request.onText?.(reply.text);
    return reply;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}
