import { APIConnectionError, APIError } from 'openai';
import { ModelError } from '../errors.ts';
import type { HistoryItem, Model, ModelConfig, ModelReply, ModelRequest } from '../model.ts';
import { ChatAnswer, chatRequest } from './chat.ts';
import { type Api, type ClientOptions, createClient, PAGE } from './client.ts';
import { classifyFailure, toModelError, withRetries } from './errors.ts';
import { Learned } from './learned.ts';
import type { Answer } from './request.ts';
import { ResponsesAnswer, responsesRequest } from './responses.ts';

export interface OpenAIModelOptions extends ClientOptions {
  readonly model: string;
  /** Which API to use; `auto` (the default) is Responses at OpenAI and Azure, and Chat Completions at any other server. */
  readonly api?: 'auto' | Api | undefined;
  /** Parameters of every request; those of `generate` go before them. */
  readonly config?: ModelConfig | undefined;
  /** The most retries of a 429, a 5xx or a failed connection; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The wait before the first retry; each further wait is twice as long. Half a second by default. */
  readonly firstRetryMs?: number | undefined;
  /** The longest wait before a retry, also when `retry-after` asks for more. A minute by default. */
  readonly longestRetryMs?: number | undefined;
  /** Called before a failed request is sent again. */
  readonly onRetry?: ((model: string) => void) | undefined;
  /** Called when the model refuses a parameter; the request is sent again without it, and so are all later ones. */
  readonly onRefusedField?: ((refused: RefusedField) => void) | undefined;
}

interface RefusedField {
  readonly field: keyof ModelConfig;
  /** The provider's words. */
  readonly reason: string;
}

/** Connects to a model through the `openai` client, streaming, at OpenAI, at Azure or at any compatible server. */
export function openAIModel(options: OpenAIModelOptions): Model {
  const { model } = options;
  const client = createClient(options);
  const { host, pathname } = new URL(client.baseURL);
  const learned = new Learned(options.api ?? 'auto', client.baseURL, options.onRefusedField);
  const retries = {
    maxRetries: options.maxRetries ?? 4,
    firstWaitMs: options.firstRetryMs ?? 500,
    longestWaitMs: options.longestRetryMs ?? 60_000,
    onRetry: () => options.onRetry?.(model),
  };

  /** Reads one answer to its end. An error that comes before any of it fails the attempt, so that it can be repeated. */
  async function attempt(request: ModelRequest, isPlain: boolean): Promise<Answer> {
    const { signal, onText } = request;
    const { answer, send } = build(request, isPlain);
    const { data, response } = await send();
    if (isPage(response))
      throw new ModelError('malformed-answer', `The model "${model}" gave no answer: ${PAGE}`);
    for await (const text of answer.read(isWhole(response) ? readWhole(response) : data)) onText?.(text);
    if (signal?.aborted || !answer.isEmpty) return answer;
    if (answer.failure instanceof APIError) throw answer.failure;
    if (isBrokenConnection(answer.failure))
      throw new APIConnectionError({
        message: 'The connection broke before the answer',
        cause: answer.failure,
      });
    return answer;
  }

  function build(request: ModelRequest, isPlain: boolean): { answer: Answer; send: () => Promise<Sent> } {
    const { signal } = request;
    const origin = originOf(learned.api);
    const sent = {
      ...request,
      history: learned.takesImages ? request.history : withoutImages(request.history),
      model,
      config: learned.accepted(joinConfigs(options.config, request.config)),
      dataOf: ({ provider }: { readonly provider?: ModelReply['provider'] }) =>
        !isPlain && provider?.origin === origin ? provider.data : undefined,
    };
    if (learned.api === 'responses') {
      const body = responsesRequest(sent, learned.extras);
      return { answer: new ResponsesAnswer(), send: () => open(client.responses.create(body, { signal })) };
    }
    const body = chatRequest(sent, learned.quirks);
    return { answer: new ChatAnswer(), send: () => open(client.chat.completions.create(body, { signal })) };
  }

  /** Names the place that provider data is bound to; a key in the address stays out of it. */
  function originOf(api: Api): string {
    return `${api} ${host}${pathname} ${model}`;
  }

  return {
    name: model,
    async reply(request) {
      const { signal } = request;
      let isPlain = false;
      for (;;) {
        const { api } = learned;
        try {
          const answer = await withRetries(() => attempt(request, isPlain), classifyFailure, {
            ...retries,
            signal,
          });
          return toReply(answer, api, signal);
        } catch (error) {
          if (signal?.aborted) return { finish: 'aborted', text: '', calls: [], usage: undefined };
          if (!(error instanceof APIError)) throw error;
          const change = learned.learn(error, joinConfigs(options.config, request.config), {
            isPlain,
            hasImages: hasImages(request.history),
          });
          if (change === undefined) throw toModelError(error, model);
          isPlain ||= change === 'without-provider-data';
        }
      }
    },
  };

  function toReply(answer: Answer, api: Api, signal: AbortSignal | undefined): ModelReply {
    const { data, ...reply } = answer.reply(brokenBy(answer, signal));
    const { failure } = answer;
    return {
      ...reply,
      ...(data !== undefined && { provider: { origin: originOf(api), data } }),
      ...(failure instanceof APIError && !signal?.aborted && { error: toModelError(failure, model) }),
    };
  }
}

function hasImages(history: readonly HistoryItem[]): boolean {
  return history.some((item) =>
    item.role === 'user' ? item.media !== undefined : item.calls.some(({ media }) => media !== undefined),
  );
}

/** Replaces the images of a history by a sentence, for a model that takes none. */
function withoutImages(history: readonly HistoryItem[]): readonly HistoryItem[] {
  return history.map((item): HistoryItem => {
    if (item.role === 'model') return { ...item, calls: item.calls.map(({ media: _, ...call }) => call) };
    const { media, text } = item;
    return media === undefined ? item : { role: 'user', text: `${text}\n[You cannot see images]` };
  });
}

function joinConfigs(...configs: (ModelConfig | undefined)[]): ModelConfig {
  const given = configs.flatMap((config) => Object.entries(config ?? {}));
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Tells whether an answer ended early: the client ends a stream in silence when it is aborted. */
function brokenBy({ failure }: Answer, signal: AbortSignal | undefined): 'cut' | 'aborted' | undefined {
  if (signal?.aborted) return 'aborted';
  return failure instanceof APIError ? 'cut' : undefined;
}

interface Sent {
  readonly data: AsyncIterable<unknown>;
  readonly response: Response;
}

function open(sending: { withResponse(): Promise<Sent> }): Promise<Sent> {
  return sending.withResponse();
}

/** Tells a page for people, such as the login of a proxy, from an answer. */
function isPage({ headers }: Response): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '');
}

/** Tells the error that `fetch` gives when the other side goes away. */
function isBrokenConnection(failure: unknown): failure is Error {
  return failure instanceof TypeError && failure.message === 'terminated';
}

/** Tells whether a server ignored `stream: true` and sent its answer as one JSON body. */
function isWhole({ headers }: Response): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
}

/** Reads a whole answer as the only chunk of a stream, or as the last event of one. */
async function* readWhole(response: Response): AsyncGenerator<unknown> {
  const body: unknown = await response.json();
  const isResponse =
    typeof body === 'object' && body !== null && 'object' in body && body.object === 'response';
  yield isResponse ? { type: 'response.completed', response: body } : body;
}
