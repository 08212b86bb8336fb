import { ModelError, type ModelErrorCode } from '../agent/errors.ts';
import type { Model, ModelReply, ModelRequest } from '../agent/model.ts';
import type { Metrics } from './metrics.ts';
import { inSpan } from './tracing.ts';

export interface ModelWatch {
  readonly metrics: Metrics;
  /** Adds what was said to the spans; the text comes without secrets. */
  readonly content: ((text: string) => string) | undefined;
}

/** The errors that only an operator can end. */
const KEY_REFUSED: ReadonlySet<ModelErrorCode> = new Set(['unauthorized', 'unknown-model', 'no-quota']);

/** Wraps the model: each call is a span with the attributes of OpenTelemetry's GenAI conventions, and is counted. */
export function observedModel(model: Model, watch: ModelWatch): Model {
  return {
    get name() {
      return model.name;
    },
    reply: (request) => replyInSpan(model, request, watch),
  };
}

function replyInSpan(
  model: Model,
  request: ModelRequest,
  { metrics, content }: ModelWatch,
): Promise<ModelReply> {
  const { name } = model;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': name,
  };
  return inSpan(`chat ${name}`, { kind: 'client', attributes }, async (span) => {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1_000;
    if (content !== undefined)
      span.setAttribute('gen_ai.input.messages', content(JSON.stringify(inputMessages(request))));
    try {
      const reply = await model.reply(request);
      const { model: answered = name, finish, usage } = reply;
      span.setAttributes({ 'gen_ai.response.model': answered, 'gen_ai.response.finish_reasons': [finish] });
      metrics.count('countersign_model_calls_total', { model: answered, finish });
      metrics.set('countersign_model_key_accepted', { model: name }, 1);
      metrics.time('countersign_model_call_seconds', { model: answered }, seconds());
      if (usage !== undefined) {
        span.setAttributes({
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
          'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
        });
        const kinds = {
          input: usage.inputTokens,
          output: usage.outputTokens,
          cached: usage.cachedTokens,
          reasoning: usage.reasoningTokens,
        };
        for (const [kind, tokens = 0] of Object.entries(kinds))
          metrics.count('countersign_model_tokens_total', { model: answered, kind }, tokens);
      }
      if (content !== undefined)
        span.setAttribute('gen_ai.output.messages', content(JSON.stringify(outputMessages(reply))));
      return reply;
    } catch (error) {
      metrics.count('countersign_model_calls_total', { model: name, finish: 'error' });
      if (error instanceof ModelError && KEY_REFUSED.has(error.code))
        metrics.set('countersign_model_key_accepted', { model: name }, 0);
      metrics.time('countersign_model_call_seconds', { model: name }, seconds());
      throw error;
    }
  });
}

function inputMessages({ history }: ModelRequest): object[] {
  return history.map((item) => ({
    role: item.role === 'user' ? 'user' : 'assistant',
    parts: [{ type: 'text', content: item.text }],
  }));
}

function outputMessages({ text, calls, finish }: ModelReply): object[] {
  const called = calls.map(({ id, name, arguments: input }) => ({
    type: 'tool_call',
    id,
    name,
    arguments: input,
  }));
  return [{ role: 'assistant', parts: [{ type: 'text', content: text }, ...called], finish_reason: finish }];
}
