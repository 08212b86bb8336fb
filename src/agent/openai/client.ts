import OpenAI from 'openai';
import { isJsonObject, type JsonValue, tryParseJson } from '../json.ts';
import type { ClientOptions, Fetch } from './client-options.ts';

const DEFAULT_SILENCE_MS = 120_000;

/** Creates the client that both adapters use. */
export function createClient(options: ClientOptions): OpenAI {
  const { apiKey, baseURL, headers, query, silenceMs = DEFAULT_SILENCE_MS } = options;
  return new OpenAI({
    apiKey,
    baseURL: baseURL ?? null,
    defaultHeaders: { ...headers },
    defaultQuery: { ...query },
    timeout: silenceMs,
    // The client's own retries cannot be aborted, wait as long as the server asks, and repeat a request without quota.
    maxRetries: 0,
    logLevel: 'off',
    fetch: withReadableErrors(withSilenceLimit(options.fetch ?? fetch, silenceMs)),
  });
}

/** Fails the body of a response when no byte arrives for `silenceMs`. A comment in an event stream counts as a sign of life. */
function withSilenceLimit(send: Fetch, silenceMs: number): Fetch {
  return async (input, init) => {
    const response = await send(input, init);
    // A fetch of the caller's own may give a body of another kind.
    if (!(response.body instanceof ReadableStream)) return response;
    return new Response(response.body.pipeThrough(silenceTimer(silenceMs)), response);
  };
}

function silenceTimer(silenceMs: number): TransformStream<Uint8Array, Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  return new TransformStream({
    start(controller) {
      const fail = () => controller.error(new Error(`The model sent nothing for ${silenceMs} ms`));
      // An abort does not stop the timer; it must not keep the process alive.
      timer = setTimeout(fail, silenceMs).unref();
    },
    transform(bytes, controller) {
      timer?.refresh();
      controller.enqueue(bytes);
    },
    flush() {
      clearTimeout(timer);
    },
  });
}

/** Rewrites error bodies as `{ error: … }`, because the client drops every other form: Gemini sends a list, FastAPI a `detail`. */
function withReadableErrors(send: Fetch): Fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await response.text().catch(() => '');
    const kept = new Headers(headers);
    for (const name of ['content-encoding', 'content-length', 'content-type']) kept.delete(name);
    kept.set('content-type', 'application/json');
    const body = JSON.stringify({ error: readError(text) });
    return new Response(body, { status, statusText, headers: kept });
  };
}

const LONGEST_PAGE = 500;

function readError(text: string): JsonValue {
  const parsed = tryParseJson(text);
  const body: JsonValue | undefined = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(body)) return { message: text.trim().slice(0, LONGEST_PAGE) || 'no reason given' };
  const { error, detail } = body;
  if (isJsonObject(error)) return error;
  if (typeof error === 'string') return { ...body, message: error };
  if (detail !== undefined) return { message: typeof detail === 'string' ? detail : JSON.stringify(detail) };
  return body;
}
