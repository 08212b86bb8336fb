import { z } from 'zod';
import { type JsonObject, toJson } from '../json.ts';
import { JsonRecord, type Usage } from '../messages.ts';
import type { ModelFinish } from '../model.ts';
import { type AdapterReply, Answer, Count, OptionalCount } from './answer.ts';
import { streamError } from './errors.ts';
import { BETWEEN_MESSAGES, type OutputItem } from './responses-request.ts';

const Content = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
});
const MessageItem = z.object({
  type: z.literal('message'),
  id: z.string().optional().catch(undefined),
  content: z.array(Content).default([]),
  phase: z.enum(['commentary', 'final_answer']).optional().catch(undefined),
});
const CallItem = z.object({
  type: z.literal('function_call'),
  id: z.string().optional().catch(undefined),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.string().nullish(),
});
const ReasoningItem = z.object({
  type: z.literal('reasoning'),
  id: z.string().min(1).optional().catch(undefined),
  encrypted_content: z.string().min(1).optional().catch(undefined),
});

const ResponsesUsage = z.object({
  input_tokens: Count,
  output_tokens: Count,
  total_tokens: Count,
  input_tokens_details: z.object({ cached_tokens: OptionalCount }).nullish().catch(undefined),
  output_tokens_details: z.object({ reasoning_tokens: OptionalCount }).nullish().catch(undefined),
});
const Finished = z.object({
  status: z.string().nullish(),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(JsonRecord).nullish(),
  usage: ResponsesUsage.nullish().catch(undefined),
});
const Event = z.looseObject({ type: z.string() });
const Delta = z.object({ output_index: z.number().catch(0), delta: z.string().catch('') });
const ItemDone = z.object({ output_index: z.number().catch(0), item: JsonRecord });

/** Assembles an answer of the Responses API. It ignores events that it does not know: new ones appear without notice. */
export class ResponsesAnswer extends Answer {
  readonly #items = new Map<number, JsonObject>();
  /** The text of each message as far as it was streamed. */
  readonly #streamed = new Map<number, string>();
  #isRefused = false;
  #hasStarted = false;
  #finished: z.infer<typeof Finished> | undefined;

  get isEmpty(): boolean {
    return this.text === '' && this.#calls().length === 0;
  }

  reply(broken?: 'cut' | 'aborted'): AdapterReply {
    const usage = this.#finished?.usage;
    return {
      finish: broken ?? this.#finish(),
      text: this.text,
      calls: this.#calls().map(({ call_id: id, name, arguments: text }) => ({ id, name, arguments: text })),
      usage: usage ? readUsage(usage) : undefined,
      data: this.#data(),
    };
  }

  protected add(value: unknown): string {
    const event = Event.parse(value);
    this.#hasStarted = true;
    switch (event.type) {
      case 'response.refusal.delta':
        this.#isRefused = true;
        return this.#addText(Delta.parse(event));
      case 'response.output_text.delta':
        return this.#addText(Delta.parse(event));
      case 'response.output_item.done': {
        const { output_index: index, item } = ItemDone.parse(event);
        return this.#addItem(index, item);
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#end(Finished.parse(event.response));
      case 'error':
        throw streamError(event.error ?? event);
      default:
        return '';
    }
  }

  #addText({ output_index: index, delta }: z.infer<typeof Delta>): string {
    const before = this.#streamed.get(index);
    this.#streamed.set(index, `${before ?? ''}${delta}`);
    const isNext = before === undefined && this.text !== '' && delta !== '';
    return isNext ? `${BETWEEN_MESSAGES}${delta}` : delta;
  }

  /** Keeps a whole item, and returns the text of it that was not streamed. */
  #addItem(index: number, item: JsonObject): string {
    this.#items.set(index, item);
    const message = MessageItem.safeParse(item).data;
    if (message === undefined) return '';
    if (message.content.some(({ type }) => type === 'refusal')) this.#isRefused = true;
    const whole = message.content.map(({ text, refusal }) => text ?? refusal ?? '').join('');
    const rest = whole.slice(this.#streamed.get(index)?.length ?? 0);
    return rest === '' ? '' : this.#addText({ output_index: index, delta: rest });
  }

  #end(finished: z.infer<typeof Finished>): string {
    // Some gateways send the items only here.
    const items = this.#items.size === 0 ? (finished.output ?? []) : [];
    const text = items.map((item, index) => this.#addItem(index, item)).join('');
    if (finished.status === 'failed') throw streamError(finished.error ?? 'The response failed');
    this.#finished = finished;
    return text;
  }

  #finish(): ModelFinish {
    if (this.#finished === undefined) return this.#hasStarted || this.failure !== undefined ? 'cut' : 'empty';
    if (this.#isRefused) return 'refusal';
    if (this.#finished.status === 'incomplete')
      return this.#finished.incomplete_details?.reason === 'content_filter' ? 'content-filter' : 'length';
    return this.#calls().some(({ status }) => status === 'incomplete') ? 'length' : 'stop';
  }

  #ordered(): JsonObject[] {
    return [...this.#items].sort(([left], [right]) => left - right).map(([, item]) => item);
  }

  #calls(): z.infer<typeof CallItem>[] {
    return this.#ordered().flatMap((item) => CallItem.safeParse(item).data ?? []);
  }

  /**
   * Lists the items in their order. Ids go with the reasoning: the provider refuses an item that has its id and lacks its reasoning, and
   * reasoning without its encrypted content cannot be sent back.
   */
  #data(): JsonObject | undefined {
    const items = this.#ordered();
    const reasoning = items.flatMap((item) => ReasoningItem.safeParse(item).data ?? []);
    const isKept = reasoning.length > 0 && reasoning.every((item) => item.id && item.encrypted_content);
    const withId = (id: string | undefined) => isKept && id !== undefined && { id };
    let calls = 0;
    const listed = items.flatMap((item): OutputItem[] => {
      const { id = '', encrypted_content = '' } = ReasoningItem.safeParse(item).data ?? {};
      if (isKept && encrypted_content !== '') return [{ type: 'reasoning', id, encrypted_content }];
      const call = CallItem.safeParse(item).data;
      if (call !== undefined) {
        calls += 1;
        return [{ type: 'call', index: calls - 1, ...withId(call.id) }];
      }
      const message = MessageItem.safeParse(item).data;
      if (message === undefined) return [];
      const { phase, content } = message;
      const length = content.reduce((sum, { text = '' }) => sum + text.length, 0);
      if (length === 0) return [];
      return [{ type: 'message', length, ...withId(message.id), ...(phase !== undefined && { phase }) }];
    });
    const isWorthKeeping =
      isKept || listed.some((item) => item.type === 'message' && item.phase !== undefined);
    return isWorthKeeping ? JsonRecord.parse(toJson({ items: listed })) : undefined;
  }
}

function readUsage(usage: z.infer<typeof ResponsesUsage>): Usage {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  const cachedTokens = usage.input_tokens_details?.cached_tokens;
  const reasoningTokens = usage.output_tokens_details?.reasoning_tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.total_tokens || inputTokens + outputTokens,
    ...(cachedTokens && { cachedTokens }),
    ...(reasoningTokens && { reasoningTokens }),
  };
}
