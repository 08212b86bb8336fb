import type { ModelError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Usage } from './messages.ts';

/** A call joined with its result: in this form of the history no call can be without one. */
export interface SettledCall {
  readonly ref: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

/** One item of the history in the form that a model is sent. */
export type HistoryItem =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'model'; readonly text: string; readonly calls: readonly SettledCall[] };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface ModelRequest {
  readonly system: string | undefined;
  readonly history: readonly HistoryItem[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal | undefined;
  readonly onText: ((delta: string) => void) | undefined;
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
  /** The error that the model reported within its answer; what arrived before it is kept. */
  readonly error?: ModelError | undefined;
}

/** The port to a model. It throws only a `ModelError`; every answer, complete or not, is a `ModelReply`. */
export interface Model {
  readonly name: string;
  reply(request: ModelRequest): Promise<ModelReply>;
}
