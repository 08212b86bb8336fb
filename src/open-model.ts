import type { Logger } from 'pino';
import { ModelError, type ModelErrorCode } from './agent/errors.ts';
import { canonicalJson, toJson } from './agent/json.ts';
import type { Model, ModelReply, ModelRequest } from './agent/model.ts';
import { defaultContextBudget } from './agent/openai/known-models.ts';
import { type OpenAIModelOptions, openAIModel } from './agent/openai/openai-model.ts';
import type { BotContext } from './bot/context.ts';
import type { Settings } from './settings.ts';
import type { AgentDeclaration, ModelDeclaration } from './tools/manifest/manifest.ts';

/** Retries of a model that another one can stand in for. */
const RETRIES_BEFORE_FALLBACK = 1;
const DEFAULT_INSTRUCTIONS = 'You are a helpful colleague in Slack. Ask when something is unclear.';

/** The settings of the environment, the `fetch` that follows its proxies, and who is told of retries. */
export type ModelSettings = Settings['model'] & Pick<OpenAIModelOptions, 'fetch' | 'onRetry'>;

/** Joins the settings of the environment and of the manifest; what the manifest says goes first. */
export function modelOptions(
  settings: ModelSettings,
  { model, api, config, headers, query, timeoutMs }: ModelDeclaration,
): OpenAIModelOptions {
  return {
    ...settings,
    ...(model !== undefined && { model }),
    ...(timeoutMs !== undefined && { silenceMs: timeoutMs }),
    api,
    config,
    headers,
    query,
  };
}

/** Opens the model of a manifest with its fallbacks. */
function openModel(options: OpenAIModelOptions, fallbacks: readonly string[], logger: Logger): Model {
  const open = (model: string, changes: Partial<OpenAIModelOptions> = {}): Model =>
    openAIModel({
      ...options,
      model,
      ...changes,
      onRefusedField: ({ field, reason }) =>
        logger.warn({ model, field, reason }, 'model refused a parameter'),
    });
  const last = fallbacks.length;
  const others = fallbacks.map((model, index) =>
    open(model, index < last - 1 ? { maxRetries: RETRIES_BEFORE_FALLBACK } : {}),
  );
  const first = open(options.model, last > 0 ? { maxRetries: RETRIES_BEFORE_FALLBACK } : {});
  return fallbackModels([first, ...others], {
    onFallback: (model, next, err) => logger.warn({ model, next, err }, 'model failed; asking the next one'),
  });
}

/** The manifest's agent as it is now, and who watches the models. */
interface OpenModelsOptions {
  readonly agent: () => AgentDeclaration;
  readonly observe: (model: Model) => Model;
  readonly logger: Logger;
  /** Answers everywhere in place of the manifest's models. */
  readonly given?: Model | undefined;
}

/** Lists the keys of a manifest that say nothing where a program gives the model. */
export function unusedModelKeys({ channels, ...agent }: AgentDeclaration): string[] {
  const { model, fallbackModels, api, config, headers, query, timeoutMs } = agent;
  const isSet = (values: object): boolean => Object.values(values).some((value) => value !== undefined);
  const keys: readonly (readonly [key: string, isUsed: boolean])[] = [
    ['name', model !== undefined],
    ['fallbacks', fallbackModels.length > 0],
    ['api', api !== 'auto'],
    ['timeout', timeoutMs !== undefined],
    ['headers', isSet(headers)],
    ['query', isSet(query)],
    ['parameters', isSet(config)],
  ];
  const named = [...channels].filter(([, channel]) => channel.model !== undefined);
  return [
    ...keys.filter(([, isUsed]) => isUsed).map(([key]) => `agent.model.${key}`),
    ...named.map(([id]) => `agent.channels.${id}.model`),
  ];
}

/** Opens the models of a bot. All of it is read for every turn, since the manifest may have been reloaded. */
export function openModels(
  settings: ModelSettings,
  { agent: declared, observe, logger, given }: OpenModelsOptions,
): Pick<BotContext, 'model' | 'modelFor' | 'agent'> {
  const open = (agent: () => AgentDeclaration): Model =>
    observe(given ?? followModel(settings, agent, logger));
  const contextBudget = (agent: AgentDeclaration): number =>
    given === undefined
      ? contextBudgetOf(settings, agent)
      : (agent.contextBudget ?? defaultContextBudget([given.name]));
  const model = open(declared);
  return {
    model,
    modelFor:
      given === undefined
        ? modelsByChannel(model, { agent: declared, open, contextBudget })
        : () => ({ model, contextBudget: contextBudget(declared()) }),
    agent: () => {
      const agent = declared();
      const { instructions = DEFAULT_INSTRUCTIONS } = agent;
      return { ...agent, instructions, contextBudget: contextBudget(agent) };
    },
  };
}

/** Gives the model of the manifest as it is now, and opens it anew only when that part of the manifest has changed. */
function followModel(settings: ModelSettings, agent: () => AgentDeclaration, logger: Logger): Model {
  let opened: { readonly key: string; readonly model: Model } | undefined;
  const current = (): Model => {
    const declared = agent();
    const options = modelOptions(settings, declared);
    const key = canonicalJson(toJson([options, declared.fallbackModels]));
    if (opened?.key !== key) opened = { key, model: openModel(options, declared.fallbackModels, logger) };
    return opened.model;
  };
  return {
    get name() {
      return current().name;
    },
    reply: (request) => current().reply(request),
  };
}

interface ChannelModelOptions {
  readonly agent: () => AgentDeclaration;
  readonly open: (agent: () => AgentDeclaration) => Model;
  readonly contextBudget: (agent: AgentDeclaration) => number;
}

/** Returns the model of each channel: the one that the manifest names for it, opened once, or the agent's own. */
function modelsByChannel(
  model: Model,
  { agent, open, contextBudget }: ChannelModelOptions,
): (channel: string) => { readonly model: Model; readonly contextBudget: number } {
  const opened = new Map<string, Model>();
  return (channel) => {
    const name = agent().channels.get(channel)?.model;
    if (name === undefined) return { model, contextBudget: contextBudget(agent()) };
    const declared = () => ({ ...agent(), model: name });
    const own = opened.get(name) ?? open(declared);
    opened.set(name, own);
    return { model: own, contextBudget: contextBudget(declared()) };
  };
}

/** Returns the budget of the manifest, or one that fits the window of its models. */
function contextBudgetOf(settings: Settings['model'], agent: AgentDeclaration): number {
  const { model = settings.model, fallbackModels: others, config, contextBudget } = agent;
  return contextBudget ?? defaultContextBudget([model, ...others], config.maxOutputTokens);
}

/** The failures after which another model may do better. */
const PASSED_ON: ReadonlySet<ModelErrorCode> = new Set([
  'unavailable',
  'timed-out',
  'rate-limited',
  'unknown-model',
]);
const PAUSE_MS = 30_000;

interface FallbackOptions {
  /** Called when a model has failed and the next one is asked. */
  readonly onFallback?: ((failed: string, next: string, error: ModelError) => void) | undefined;
}

/**
 * Asks the models in their order until one answers. A model that failed is left alone for a while, so that not every request waits for
 * it; if all are, they are asked all the same. The error is that of the first model.
 */
export function fallbackModels(models: readonly [Model, ...Model[]], options: FallbackOptions = {}): Model {
  const pausedUntil = new Map<Model, number>();
  const [first] = models;

  async function reply(request: ModelRequest): Promise<ModelReply> {
    const now = performance.now();
    const ready = models.filter((model) => (pausedUntil.get(model) ?? 0) <= now);
    const order = ready.length > 0 ? ready : models;
    let reported: ModelError | undefined;
    for (const [index, model] of order.entries()) {
      try {
        const answer = await model.reply(request);
        return { model: model.name, ...answer };
      } catch (error) {
        if (!(error instanceof ModelError) || !PASSED_ON.has(error.code)) throw error;
        pausedUntil.set(model, performance.now() + (error.retryAfterMs ?? PAUSE_MS));
        reported ??= error;
        const next = order[index + 1];
        if (next !== undefined) options.onFallback?.(model.name, next.name, error);
      }
    }
    throw reported ?? new Error('There is no model to ask');
  }

  return { name: first.name, reply };
}
