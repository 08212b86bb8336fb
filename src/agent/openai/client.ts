import OpenAI from 'openai';
import { z } from 'zod';
import { isJsonObject, type JsonValue, tryParseJson } from '../json.ts';

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
    return new Response(limitSilence(response.body, silenceMs), response);
  };
}

function limitSilence(body: ReadableStream<Uint8Array>, silenceMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start(controller) {
      const fail = () => {
        controller.error(new Error(`The model sent nothing for ${silenceMs} ms`));
        reader.cancel().catch(() => {});
      };
      // An abort does not stop the timer; it must not keep the process alive.
      timer = setTimeout(fail, silenceMs).unref();
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      timer?.refresh();
      if (!done) return controller.enqueue(value);
      clearTimeout(timer);
      controller.close();
    },
    cancel(reason) {
      clearTimeout(timer);
      return reader.cancel(reason);
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
/** The words for a page where an answer was expected. */
export const PAGE = 'the address answers with a web page, such as a login, in place of JSON';

function readError(text: string): JsonValue {
  const parsed = tryParseJson(text);
  const body: JsonValue | undefined = Array.isArray(parsed) ? parsed[0] : parsed;
  if (/^\s*<(?:!doctype|html)\b/i.test(text)) return { message: PAGE };
  if (!isJsonObject(body)) return { message: text.trim().slice(0, LONGEST_PAGE) || 'no reason given' };
  const { error, detail } = body;
  if (isJsonObject(error)) return error;
  if (typeof error === 'string') return { ...body, message: error };
  if (detail !== undefined) return { message: typeof detail === 'string' ? detail : JSON.stringify(detail) };
  return body;
}

// Without an import of the client, so that users of the library need not install it for its types.

export type Api = 'responses' | 'chat';

type Fetch = typeof globalThis.fetch;

export interface ClientOptions {
  readonly apiKey: string;
  readonly baseURL?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** The longest time in which the model may send nothing, before or within its answer; two minutes by default. */
  readonly silenceMs?: number | undefined;
  /** Replaces the built-in `fetch`, for example to use a proxy. */
  readonly fetch?: Fetch | undefined;
}

const ListedModel = z.object({ id: z.string(), shutdown_date: z.string().nullish().catch(undefined) });
/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string;
  /** The day on which it ends, if the provider names one. */
  readonly endsOn: string | undefined;
}

/** Lists the models of a provider; `undefined` if it has no list, or one that does not name what is asked for, as at Azure. */
export async function listModels(options: ClientOptions): Promise<readonly ListedModel[] | undefined> {
  const client = createClient(options);
  if (/\.azure\.(?:com|us|cn)$/.test(new URL(client.baseURL).hostname)) return undefined;
  try {
    const { data } = await client.models.list();
    const listed = data.flatMap((model) => ListedModel.safeParse(model).data ?? []);
    if (listed.length === 0) return undefined;
    // Gemini puts "models/" before its names.
    return listed.map(({ id, shutdown_date: date }) => ({
      id: id.replace(/^models\//, ''),
      endsOn: date ?? undefined,
    }));
  } catch {
    return undefined;
  }
}
