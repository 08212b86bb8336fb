import type { APIError } from 'openai';
import type { ModelConfig } from '../model.ts';
import type { ChatQuirk } from './chat.ts';
import type { Api } from './client.ts';
import { isUnknownModel, statusOf } from './errors.ts';

/** A change of the way to send that one refusal asked for. */
export type Change =
  | 'other-api'
  | 'without-field'
  | 'other-value'
  | 'quirk'
  | 'without-extra'
  | 'without-provider-data'
  | 'without-images';

/** Parts of a Responses request that only help: encrypted reasoning to send back, and a hint for the provider's cache. */
export type Extra = 'include' | 'prompt_cache_key';

/** The words of OpenAI for a model that has no such API, of its proxies, and of Azure for an old version. */
const ONLY_RESPONSES =
  /only (?:supported|available) (?:in|with|at) (?:the )?(?:\/?v1\/responses|responses api)|use \/?v1\/responses|not a chat model/i;
const NO_RESPONSES =
  /not supported (?:with|in|by) the responses api|responses api is (?:not|only|enabled only)/i;

/** The parameters by the names that OpenAI gives them in its refusals. */
const FIELDS: Readonly<Record<string, keyof ModelConfig>> = {
  temperature: 'temperature',
  top_p: 'topP',
  max_output_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
  reasoning: 'reasoningEffort',
  'reasoning.effort': 'reasoningEffort',
  reasoning_effort: 'reasoningEffort',
  verbosity: 'verbosity',
  'text.verbosity': 'verbosity',
  parallel_tool_calls: 'parallelToolCalls',
  service_tier: 'serviceTier',
};

/**
 * Remembers what the refusals of one model have taught: which API it has, which parameters it does not take, and which rules of its
 * own it has. Each refusal is acted on once, so a request that is refused again for the same reason fails.
 */
export class Learned {
  readonly quirks = new Set<ChatQuirk>();
  readonly #isAuto: boolean;
  readonly #refused = new Set<string>();
  readonly #left = new Set<Api>();
  readonly #extras = new Set<Extra>(['include', 'prompt_cache_key']);
  readonly #onRefusedField: ((refused: { field: keyof ModelConfig; reason: string }) => void) | undefined;
  #api: Api;
  #takesImages = true;
  #effort: 'none' | undefined;

  constructor(
    api: 'auto' | Api,
    baseURL: string,
    onRefusedField?: (refused: { field: keyof ModelConfig; reason: string }) => void,
  ) {
    this.#isAuto = api === 'auto';
    this.#api = api === 'auto' ? defaultApi(baseURL) : api;
    this.#onRefusedField = onRefusedField;
  }

  get api(): Api {
    return this.#api;
  }

  /** The extras that the model has not refused. */
  get extras(): ReadonlySet<Extra> {
    return this.#extras;
  }

  /** Whether the model has not refused an image. */
  get takesImages(): boolean {
    return this.#takesImages;
  }

  /** Leaves out the parameters that the model has refused. */
  accepted(config: ModelConfig): ModelConfig {
    const kept = Object.fromEntries(Object.entries(config).filter(([field]) => !this.#refused.has(field)));
    return this.#effort === undefined ? kept : { ...kept, reasoningEffort: this.#effort };
  }

  /** Changes the way to send after a refusal; `undefined` means that nothing can be changed. */
  learn(
    error: APIError,
    config: ModelConfig,
    { isPlain, hasImages }: { readonly isPlain: boolean; readonly hasImages: boolean },
  ): Change | undefined {
    const status = statusOf(error);
    const isRefusal = status === 400 || status === 422;
    if (hasImages && this.#takesImages && isImageRefusal(error, status)) {
      this.#takesImages = false;
      return 'without-images';
    }
    if (error.code === 'invalid_encrypted_content') return isPlain ? undefined : 'without-provider-data';
    if (this.#api === 'responses') {
      const isMissing = (status === 404 || status === 405) && !isUnknownModel(error);
      if ((isMissing || NO_RESPONSES.test(error.message)) && this.#switchTo('chat')) return 'other-api';
      return isRefusal ? (this.#dropExtra(error) ?? this.#dropField(error, config)) : undefined;
    }
    if (ONLY_RESPONSES.test(error.message) && this.#switchTo('responses')) return 'other-api';
    if (!isRefusal) return undefined;
    // OpenAI's reasoning models take tools only at Responses, or with an effort of "none".
    if (/function tools with reasoning_effort/i.test(error.message)) {
      if (this.#switchTo('responses')) return 'other-api';
      if (this.#effort === 'none' || !/'none'/.test(error.message)) return undefined;
      this.#effort = 'none';
      return 'other-value';
    }
    return this.#learnQuirk(error) ?? this.#dropField(error, config);
  }

  #switchTo(api: Api): boolean {
    // A server may lack what another refusal pointed to: then the first API is asked once more, and no third time.
    if (!this.#isAuto || this.#left.has(this.#api)) return false;
    this.#left.add(this.#api);
    this.#api = api;
    return true;
  }

  #dropExtra({ param, message }: APIError): Change | undefined {
    const names = { include: /\binclude\b|encrypted[ _]content/i, prompt_cache_key: /prompt_cache_key/ };
    const refused = [...this.#extras].find((extra) => names[extra].test(`${param ?? ''} ${message}`));
    if (refused === undefined) return undefined;
    this.#extras.delete(refused);
    return 'without-extra';
  }

  #learnQuirk({ message, param }: APIError): Change | undefined {
    const quirk = quirkIn(message, param ?? '');
    if (quirk === undefined || this.quirks.has(quirk)) return undefined;
    this.quirks.add(quirk);
    return 'quirk';
  }

  #dropField({ param, message }: APIError, config: ModelConfig): Change | undefined {
    const field = FIELDS[param ?? ''] ?? fieldIn(message, config);
    if (field === undefined || config[field] === undefined || this.#refused.has(field)) return undefined;
    this.#refused.add(field);
    this.#onRefusedField?.({ field, reason: message });
    return 'without-field';
  }
}

/** Finds a parameter that a refusal names in its words only. */
function fieldIn(message: string, config: ModelConfig): keyof ModelConfig | undefined {
  const words = new Set(message.match(/[a-z_]+(?:\.[a-z_]+)*/g));
  const named = Object.entries(FIELDS).filter(
    ([name, field]) => words.has(name) && config[field] !== undefined,
  );
  return named[0]?.[1];
}

/** Tells whether a model refuses images as such; a broken or too large one is refused for another reason. */
function isImageRefusal({ message }: APIError, status: number | undefined): boolean {
  if (status === undefined || ![400, 404, 415, 422].includes(status)) return false;
  return /image_url|image input|input_image|input_file|file_data|images? (?:is|are) not supported|vision|multi-?modal/i.test(
    message,
  );
}

function quirkIn(message: string, param: string): ChatQuirk | undefined {
  if (/thought_signature/.test(message)) return 'needs-signatures';
  if (/reasoning_content.*(?:must|required|missing)/is.test(message)) return 'needs-reasoning';
  const refused = `${param} ${message}`;
  if (/stream_options|include_usage/.test(refused)) return 'no-stream-options';
  return /max_completion_tokens/.test(refused) ? 'old-max-tokens' : undefined;
}

/** Chooses Responses at OpenAI and at Azure's address without a version; no other server is known to have it. */
function defaultApi(baseURL: string): Api {
  const { hostname, pathname } = new URL(baseURL);
  const isOpenAI = hostname === 'api.openai.com' || hostname.endsWith('.api.openai.com');
  const isAzure = /\.(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|us|cn)$/.test(hostname);
  return isOpenAI || (isAzure && pathname.startsWith('/openai/v1')) ? 'responses' : 'chat';
}
