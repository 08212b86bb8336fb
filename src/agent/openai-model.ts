import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { ModelError, type ModelErrorCode } from './errors/model-error.ts';
import type { Model, ModelReply, ModelRequest } from './model.ts';
import { OpenAIStreamReader } from './read-openai-stream.ts';
import { toOpenAIMessages, toOpenAITool } from './to-openai.ts';
import { type FailedAttempt, withRetries } from './with-retries.ts';

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

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;

/** A model that speaks OpenAI's Chat Completions, streaming, from OpenAI or anyone with the same protocol. */
export function openAIModel(options: OpenAIModelOptions): Model {
  const { model, apiKey, baseURL, silenceMs = 120_000 } = options;
  // The client's own retries cannot be aborted and wait as long as they are told to, so ours stand in for them.
  const client = new OpenAI({
    apiKey,
    baseURL: baseURL ?? null,
    maxRetries: 0,
    timeout: silenceMs,
    logLevel: 'off',
  });
  const retries = {
    maxRetries: options.maxRetries ?? 4,
    firstWaitMs: options.firstRetryMs ?? 500,
    longestWaitMs: options.longestRetryMs ?? 60_000,
  };

  return {
    name: model,
    async reply(request) {
      const body: Body = {
        model,
        messages: toOpenAIMessages(request),
        stream: true,
        stream_options: { include_usage: true },
        ...(request.tools.length > 0 && { tools: request.tools.map(toOpenAITool) }),
      };
      const reader = new OpenAIStreamReader();
      try {
        const open = () => openStream(client, body, request.signal);
        const stream = await withRetries(open, judge, { ...retries, signal: request.signal });
        return await readAll(stream, reader, request, silenceMs);
      } catch (error) {
        if (request.signal?.aborted) return reader.result('aborted');
        throw toModelError(error, model);
      }
    },
  };
}

function openStream(client: OpenAI, body: Body, signal: AbortSignal | undefined) {
  return client.chat.completions.create(body, signal && { signal });
}

type Stream = Awaited<ReturnType<typeof openStream>>;

async function readAll(
  stream: Stream,
  reader: OpenAIStreamReader,
  request: ModelRequest,
  silenceMs: number,
): Promise<ModelReply> {
  const chunks = stream[Symbol.asyncIterator]();
  const silence = setTimeout(() => stream.controller.abort(), silenceMs);
  let finished = false;
  const brokenOff = () => reader.result(request.signal?.aborted ? 'aborted' : 'cut');
  try {
    for (;;) {
      let said: string;
      try {
        const next = await chunks.next();
        if (next.done) {
          finished = true;
          break;
        }
        said = reader.add(next.value);
      } catch {
        // A broken socket, a malformed chunk, an error in the middle: what was said before it is kept.
        return brokenOff();
      }
      silence.refresh();
      if (said !== '') request.onText?.(said);
    }
    return stream.controller.signal.aborted ? brokenOff() : reader.result();
  } finally {
    clearTimeout(silence);
    if (!finished) stream.controller.abort();
  }
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
