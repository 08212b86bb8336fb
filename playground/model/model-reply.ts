import type { ChatRequest } from './chat-request.ts';

/** A tool call as the script gives it; a string of arguments is sent as it is, valid JSON or not. */
export interface ScriptedCall {
  id?: string;
  name: string;
  arguments: string | object;
}

/** Transport of an answer; counts are stream chunks, of which the first carries only the role. */
export interface Delivery {
  delayMs?: number;
  /** Holds a chunk of the stream back until this resolves; a test waits here for what must come first. */
  before?: (chunk: number) => Promise<unknown> | undefined;
  /** Destroys the socket in place of the headers, or after so many chunks (0: right after the headers). */
  cut?: 'headers' | number;
  /** Stops sending after so many chunks and leaves the socket open. */
  hang?: number;
  usage?: {
    promptTokens: number;
    completionTokens: number;
    cachedTokens?: number;
    reasoningTokens?: number;
  };
}

/** Text; given as an array, each member is one delta of the stream. */
export interface TextReply extends Delivery {
  text: string | readonly string[];
  finishReason?: 'stop' | 'length' | 'content_filter';
}

/** Tool calls, with text before them if there is any. */
export interface CallsReply extends Delivery {
  text?: string | readonly string[];
  calls: readonly ScriptedCall[];
  finishReason?: 'tool_calls' | 'stop' | 'length' | 'content_filter';
}

/** A refusal by the model itself: an answer, not an error. */
export interface RefusalReply extends Delivery {
  refusal: string;
}

/** An HTTP error; without a body it has OpenAI's usual text for that status, and a string body is sent unchanged. */
export interface ErrorReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | object;
}

/** An answer without any choice in it. */
export interface EmptyReply extends Delivery {
  empty: true;
}

/** Accepts the request and never answers. */
export interface HangReply {
  hang: true;
}

/** Destroys the socket where the headers were due. */
export interface CutReply {
  cut: 'headers';
}

/** The bytes of an event stream, sent as they are, with no `[DONE]` added. */
export interface RawReply {
  chunksRaw: readonly string[];
  delayMs?: number;
}

/** An answer that has the form of a completion, whole or in chunks. */
export type CompletionReply = TextReply | CallsReply | RefusalReply | EmptyReply;

/** One scripted answer to one request. */
export type ModelReply = CompletionReply | ErrorReply | HangReply | CutReply | RawReply;

/** Chooses the answer to the request with that index; undefined means that the call was not expected. */
export type ReplyFunction = (
  request: ChatRequest,
  index: number,
) => ModelReply | undefined | Promise<ModelReply | undefined>;
