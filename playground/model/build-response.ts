import { type Identity, readAnswer, split } from './build-completion.ts';
import type { Reasoned } from './check-responses.ts';
import type { CompletionReply } from './model-reply.ts';
import type { ResponsesRequest } from './responses-request.ts';

interface OutputItem {
  readonly item: { readonly id: string; readonly type: string; readonly [key: string]: unknown };
  /** The events between `added` and `done`. */
  readonly deltas: readonly object[];
}

export interface BuiltResponse {
  readonly events: readonly object[];
  /** The answer as a whole, for a request that does not stream. */
  readonly whole: object;
  /** The data that the next request has to bring back, by encrypted content, call id and message id. */
  readonly reasoned: ReadonlyMap<string, Reasoned>;
}

/** Builds the events of an answer; with `reasons`, the model thinks before it speaks or calls. */
export function buildResponse(
  reply: CompletionReply,
  request: ResponsesRequest,
  identity: Identity,
  { reasons }: { readonly reasons: boolean },
): BuiltResponse {
  const { id, created } = identity;
  const answer = readAnswer(reply, identity);
  const items = answer === undefined ? [] : [...textItems(answer, id), ...callItems(answer, id)];
  const reasoning = reasons && items.length > 0 ? [reasoningItem(id)] : [];
  const output = [...reasoning, ...items];
  const [status, reason] = statusOf(answer?.finishReason);
  const inputTokens = reply.usage?.promptTokens ?? estimateTokens(request.input);
  const outputTokens = reply.usage?.completionTokens ?? estimateTokens(output);
  const base = { id, object: 'response', created_at: created, model: request.model, store: false };
  const whole = {
    ...base,
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output: output.map(({ item }) => item),
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: reply.usage?.cachedTokens ?? 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reply.usage?.reasoningTokens ?? 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
  const started = { ...base, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...output.flatMap(({ item, deltas }, index) => itemEvents(item, deltas, index)),
    { type: `response.${status}`, response: whole },
  ];
  return {
    events: events.map((event, index) => ({ ...event, sequence_number: index })),
    whole,
    // The reasoning of an answer that is not whole must not come back.
    reasoned: status === 'completed' ? rememberReasoning(output, request.model) : new Map(),
  };
}

function textItems(answer: NonNullable<ReturnType<typeof readAnswer>>, id: string): OutputItem[] {
  const { text, refusal } = answer;
  const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed' };
  if (refusal !== undefined) {
    const deltas = split(refusal).map((delta) => ({
      type: 'response.refusal.delta',
      content_index: 0,
      delta,
    }));
    return [{ item: { ...item, content: [{ type: 'refusal', refusal }] }, deltas }];
  }
  if (text === undefined || text.length === 0) return [];
  const content = [{ type: 'output_text', text: text.join(''), annotations: [], logprobs: [] }];
  const deltas = text.map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta }));
  return [{ item: { ...item, content }, deltas }];
}

function callItems(answer: NonNullable<ReturnType<typeof readAnswer>>, id: string): OutputItem[] {
  return answer.calls.map((call, index) => ({
    item: {
      id: `fc_${id}_${index}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    },
    deltas: split(call.arguments).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
  }));
}

function reasoningItem(id: string): OutputItem {
  const encrypted = Buffer.from(`reasoning of ${id}`).toString('base64');
  return {
    item: { id: `rs_${id}`, type: 'reasoning', summary: [], encrypted_content: `gAAAA${encrypted}` },
    deltas: [],
  };
}

function itemEvents({ id, ...item }: OutputItem['item'], deltas: readonly object[], index: number): object[] {
  const place = { output_index: index, item_id: id };
  // What is encrypted is complete only at the end.
  const { encrypted_content: _, ...begun } = item;
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { id, ...begun, arguments: '', content: [] },
    },
    ...deltas.map((delta) => ({ ...place, ...delta })),
    { type: 'response.output_item.done', output_index: index, item: { id, ...item } },
  ];
}

function rememberReasoning(output: readonly OutputItem[], model: string): Map<string, Reasoned> {
  const [first, ...others] = output;
  if (first?.item.type !== 'reasoning') return new Map();
  const followers = others.map(({ item }) => String(item.call_id ?? item.id));
  const own = { model, reasoning: first.item.id, followers };
  return new Map([String(first.item.encrypted_content), ...followers].map((key) => [key, own]));
}

function statusOf(finishReason: string | undefined): [status: string, reason?: string] {
  if (finishReason === 'length') return ['incomplete', 'max_output_tokens'];
  return finishReason === 'content_filter' ? ['incomplete', 'content_filter'] : ['completed'];
}

function estimateTokens(value: object): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}
