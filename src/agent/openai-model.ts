import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { ModelError, type ModelErrorCode } from './errors.ts';
import { isJsonObject, tryParseJson } from './json.ts';
import type { Model, ModelReply, ModelRequest } from './model.ts';
import { type PostOptions, SilenceError, textPoster } from './post-text.ts';
import { OpenAIStreamReader } from './read-openai-stream.ts';
import { type FailedAttempt, withRetries } from './with-retries.ts';
import { writeRequest } from './write-openai-request.ts';

export interface OpenAIModelOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL?: string | undefined;
  /** How often a 429, a 5xx or a failed connection is tried again; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The pause before the first retry; each further one is twice as long. Half a second by default. */
  readonly firstRetryMs?: number | undefined;
  /** The longest pause before a retry, also when more is asked for with `retry-after`. A minute by default. */
  readonly longestRetryMs?: number | undefined;
  /** How long the model may be silent, before or within its answer; two minutes by default. */
  readonly silenceMs?: number | undefined;
}

/** A model that speaks OpenAI's Chat Completions, streaming, from OpenAI or anyone with the same protocol. */
export function openAIModel(options: OpenAIModelOptions): Model {
  const { model, apiKey, baseURL, silenceMs = 120_000 } = options;
  const client = new OpenAI({ apiKey, baseURL: baseURL ?? null, timeout: silenceMs, logLevel: 'off' });
  const send = requestSender(client);
  const retries = {
    maxRetries: options.maxRetries ?? 4,
    firstWaitMs: options.firstRetryMs ?? 500,
    longestWaitMs: options.longestRetryMs ?? 60_000,
  };

  return {
    name: model,
    async reply(request) {
      const { signal } = request;
      const text = writeRequest(model, request);
      const reader = new OpenAIStreamReader();
      try {
        const body = await withRetries(() => send(text, { signal, silenceMs }), judge, {
          ...retries,
          signal,
        });
        return await readAll(body, reader, request, silenceMs);
      } catch (error) {
        if (request.signal?.aborted) return reader.result('aborted');
        throw toModelError(error, model);
      }
    },
  };
}

/**
 * Sends requests as the client would, with its address and its headers, which are the same each time and are asked for once; what goes
 * wrong is an error of the client. Its own retries cannot be aborted and wait as long as they are told to, so ours stand in for them.
 */
function requestSender(client: OpenAI): (text: string, options: PostOptions) => Promise<IncomingMessage> {
  const open = async () => {
    const { url, req } = await client.buildRequest({ method: 'post', path: '/chat/completions', body: {} });
    return textPoster(url, new Headers(req.headers));
  };
  let opened: ReturnType<typeof open> | undefined;
  return async (text, options) => {
    opened ??= open();
    const post = await opened;
    const posted = await post(text, options).catch((cause: unknown) => {
      if (options.signal?.aborted) throw new APIUserAbortError();
      if (cause instanceof SilenceError) throw new APIConnectionTimeoutError();
      throw new APIConnectionError({ ...(cause instanceof Error && { cause }) });
    });
    if (posted.outcome === 'answered') return posted.body;
    const { status, words, headers } = posted;
    const said = tryParseJson(words);
    throw isJsonObject(said)
      ? APIError.generate(status, said, undefined, headers)
      : APIError.generate(status, undefined, words, headers);
  };
}

/** Reads an answer to its end; of one that breaks off (a broken socket, a malformed chunk, an error within) what was said is kept. */
function readAll(
  body: IncomingMessage,
  reader: OpenAIStreamReader,
  { onText, signal }: ModelRequest,
  silenceMs: number,
): Promise<ModelReply> {
  let isDone = false;
  // What goes wrong with whoever listens is no trouble of the model's.
  let listenerFailed: { readonly error: unknown } | undefined;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isDone) return;
      isDone = data.startsWith('[DONE]');
      if (isDone) return;
      const said = reader.add(parseChunk(data));
      try {
        if (said !== '') onText?.(said);
      } catch (error) {
        listenerFailed = { error };
        throw error;
      }
    },
  });
  return new Promise((resolve, reject) => {
    const silence = setTimeout(() => body.destroy(new Error('The model fell silent')), silenceMs);
    const breakOff = (): void => {
      clearTimeout(silence);
      if (listenerFailed !== undefined) reject(listenerFailed.error);
      else resolve(reader.result(signal?.aborted ? 'aborted' : isDone ? undefined : 'cut'));
    };
    body.setEncoding('utf8');
    // Events and not an iterator, which costs as much as all the rest of the reading.
    body.on('data', (piece: string) => {
      silence.refresh();
      try {
        parser.feed(piece);
      } catch {
        breakOff();
        body.destroy();
      }
    });
    body.on('end', () => {
      clearTimeout(silence);
      resolve(reader.result());
    });
    body.on('error', breakOff);
    body.on('close', breakOff);
  });
}

function parseChunk(data: string): OpenAI.Chat.Completions.ChatCompletionChunk {
  const chunk = JSON.parse(data);
  if (chunk.error) throw new Error('The model reported an error within its answer');
  return chunk;
}

const RETRYABLE_STATUS = new Set([408, 409, 429]);

function judge(error: unknown): FailedAttempt {
  const never = { retryable: false, retryAfterMs: undefined };
  if (error instanceof APIUserAbortError) return never;
  if (error instanceof APIConnectionError) return { retryable: true, retryAfterMs: undefined };
  if (!(error instanceof APIError) || error.status === undefined) return never;
  const headers: Headers = error.headers ?? new Headers();
  const retryable = RETRYABLE_STATUS.has(error.status) || error.status >= 500;
  // A spent quota answers 429 as well, and no wait mends it.
  const hopeless = headers.get('x-should-retry') === 'false' || error.code === 'insufficient_quota';
  return { retryable: retryable && !hopeless, retryAfterMs: retryAfterOf(headers) };
}

function retryAfterOf(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  const seconds = Number(given);
  const wait = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function toModelError(error: unknown, model: string): unknown {
  if (!(error instanceof APIError)) return error;
  const { status } = error;
  const { retryAfterMs } = judge(error);
  return new ModelError(codeOf(error), `The model "${model}" gave no answer: ${error.message}`, {
    cause: error,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function codeOf(error: APIError): ModelErrorCode {
  if (error instanceof APIConnectionTimeoutError) return 'timed-out';
  if (error.status === undefined || error.status >= 500) return 'unavailable';
  if (error.status === 429) return 'rate-limited';
  return error.status === 401 || error.status === 403 ? 'unauthorized' : 'refused-request';
}
