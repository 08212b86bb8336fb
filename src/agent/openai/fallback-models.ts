import { ModelError, type ModelErrorCode } from '../errors.ts';
import type { Model, ModelReply, ModelRequest } from '../model.ts';

/** The failures after which another model may do better. */
const PASSED_ON: ReadonlySet<ModelErrorCode> = new Set([
  'unavailable',
  'timed-out',
  'rate-limited',
  'unknown-model',
]);
const PAUSE_MS = 30_000;

export interface FallbackOptions {
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
