import OpenAI, { APIError } from 'openai';
import type { Model } from '../model.ts';
import { chatRequest } from './chat-request.ts';
import { ChatAnswer } from './chat-stream.ts';
import { classifyFailure, toModelError } from './errors.ts';
import { withRetries } from './retry.ts';
import { type Fetch, withSilenceLimit } from './silence-limit.ts';

export interface OpenAIModelOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL?: string | undefined;
  /** The most retries of a 429, a 5xx or a failed connection; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The wait before the first retry; each further wait is twice as long. Half a second by default. */
  readonly firstRetryMs?: number | undefined;
  /** The longest wait before a retry, also when `retry-after` asks for more. A minute by default. */
  readonly longestRetryMs?: number | undefined;
  /** The longest silence of the model, before or within its answer; two minutes by default. */
  readonly silenceMs?: number | undefined;
  /** Replaces the built-in `fetch`, for example to use a proxy. */
  readonly fetch?: Fetch | undefined;
}

/** Connects to a model over OpenAI's Chat Completions, streaming, at OpenAI or at any compatible server. */
export function openAIModel(options: OpenAIModelOptions): Model {
  const { model, apiKey, baseURL, silenceMs = 120_000 } = options;
  const client = new OpenAI({
    apiKey,
    baseURL: baseURL ?? null,
    timeout: silenceMs,
    // The client's own retries cannot be aborted and wait as long as the server asks.
    maxRetries: 0,
    logLevel: 'off',
    fetch: withSilenceLimit(options.fetch ?? fetch, silenceMs),
  });
  const retries = {
    maxRetries: options.maxRetries ?? 4,
    firstWaitMs: options.firstRetryMs ?? 500,
    longestWaitMs: options.longestRetryMs ?? 60_000,
  };

  return {
    name: model,
    async reply(request) {
      const { signal, onText } = request;
      const body = chatRequest(model, request);
      const send = () => client.chat.completions.create(body, { signal }).withResponse();
      const answer = new ChatAnswer();
      try {
        const { data, response } = await withRetries(send, classifyFailure, { ...retries, signal });
        const chunks = isWhole(response) ? readWhole(response) : data;
        for await (const text of answer.read(chunks)) onText?.(text);
      } catch (error) {
        if (signal?.aborted) return answer.reply('aborted');
        throw error instanceof APIError ? toModelError(error, model) : error;
      }
      if (signal?.aborted) return answer.reply('aborted');
      if (!(answer.failure instanceof APIError)) return answer.reply();
      const error = toModelError(answer.failure, model);
      if (answer.isEmpty) throw error;
      return { ...answer.reply('cut'), error };
    },
  };
}

/** Tells whether a server ignored `stream: true` and sent its answer as one JSON body. */
function isWhole({ headers }: Response): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
}

async function* readWhole(response: Response): AsyncGenerator<unknown> {
  yield await response.json();
}
