import { hash } from 'node:crypto';
import type OpenAI from 'openai';
import { z } from 'zod';
import { type JsonObject, toJson } from '../json.ts';
import { JsonRecord } from '../json-schema.ts';
import type { Media, Usage } from '../messages.ts';
import type { HistoryItem, ModelFinish, SettledCall, ToolChoice, ToolSpec } from '../model.ts';
import { streamError } from './errors.ts';
import { reasons } from './known-models.ts';
import type { Extra } from './learned.ts';
import {
  type AdapterReply,
  type AdapterRequest,
  Answer,
  acceptableName,
  Count,
  isDocument,
  OptionalCount,
  parametersOf,
  resultText,
  strictOutput,
} from './request.ts';

type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type ResponsesTool = OpenAI.Responses.FunctionTool;
type ModelItem = Extract<HistoryItem, { role: 'model' }>;

/** An item of an answer. Text and arguments are in our messages already, so a message has its length and a call its index. */
const OutputItem = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning'), id: z.string(), encrypted_content: z.string() }),
  z.object({
    type: z.literal('message'),
    length: z.number().int().nonnegative(),
    id: z.string().optional(),
    phase: z.enum(['commentary', 'final_answer']).optional(),
  }),
  z.object({ type: z.literal('call'), index: z.number().int().nonnegative(), id: z.string().optional() }),
]);
type OutputItem = z.infer<typeof OutputItem>;

/** The items of one answer in their order. */
const ResponsesData = z.object({ items: z.array(OutputItem) });

/** Comes between the texts of two messages of one answer. */
const BETWEEN_MESSAGES = '\n\n';

/** Builds the body of a streaming Responses request. The provider keeps nothing: every request has the whole history. */
export function responsesRequest(
  request: AdapterRequest,
  extras: ReadonlySet<Extra> = new Set(['include', 'prompt_cache_key']),
): ResponsesRequest {
  const { model, system, history, tools, config, outputSchema } = request;
  const text = {
    ...(config.verbosity !== undefined && { verbosity: config.verbosity }),
    ...(outputSchema !== undefined && {
      format: { type: 'json_schema' as const, ...strictOutput(outputSchema) },
    }),
  };
  return {
    model,
    stream: true,
    store: false,
    ...(extras.has('include') && reasons(model) && { include: ['reasoning.encrypted_content' as const] }),
    ...(extras.has('prompt_cache_key') && { prompt_cache_key: cacheKey(request) }),
    ...(system !== undefined && { instructions: system }),
    input: history.flatMap((item) => inputItems(item, request.dataOf)),
    ...(tools.length > 0 && {
      tools: tools.map(responsesTool),
      ...(request.toolChoice !== undefined && { tool_choice: responsesChoice(request.toolChoice) }),
      ...(config.parallelToolCalls !== undefined && { parallel_tool_calls: config.parallelToolCalls }),
    }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.topP !== undefined && { top_p: config.topP }),
    ...(config.maxOutputTokens !== undefined && { max_output_tokens: config.maxOutputTokens }),
    ...(config.reasoningEffort !== undefined && { reasoning: { effort: config.reasoningEffort } }),
    ...(config.serviceTier !== undefined && { service_tier: config.serviceTier }),
    ...(Object.keys(text).length > 0 && { text }),
  };
}

/** Returns the same key for every request of one conversation, so that the provider finds what it has read before. */
function cacheKey({ system = '', history }: AdapterRequest): string {
  return hash('sha256', JSON.stringify([system, history[0]?.text])).slice(0, 32);
}

function responsesTool({ name, description, inputSchema }: ToolSpec): ResponsesTool {
  // Without `strict: false` the provider rewrites the schema and makes optional fields required.
  return { type: 'function', name, description, parameters: parametersOf(inputSchema), strict: false };
}

function responsesChoice(choice: ToolChoice) {
  return typeof choice === 'string' ? choice : { type: 'function' as const, name: choice.tool };
}

function inputItems(item: HistoryItem, dataOf: AdapterRequest['dataOf']): InputItem[] {
  if (item.role === 'user') {
    const { text, media = [] } = item;
    const content = media.length === 0 ? text : [inputText(text), ...media.map(inputMedia)];
    return [{ type: 'message', role: 'user', content }];
  }
  const given = dataOf(item);
  const data = given === undefined ? undefined : ResponsesData.safeParse(given).data;
  return [...(verbatimItems(item, data?.items) ?? plainItems(item)), ...item.calls.map(callOutput)];
}

/** Rebuilds the items of an answer as the model wrote them; `undefined` if they do not fit the message any more. */
function verbatimItems(item: ModelItem, items: readonly OutputItem[] = []): InputItem[] | undefined {
  const built: InputItem[] = [];
  const called = new Set<number>();
  let at = 0;
  for (const output of items) {
    if (output.type === 'reasoning') {
      built.push({ ...output, summary: [] });
    } else if (output.type === 'call') {
      const call = item.calls[output.index];
      if (call === undefined) return undefined;
      called.add(output.index);
      built.push(callItem(call, output.id));
    } else {
      if (at > 0) at += BETWEEN_MESSAGES.length;
      built.push(messageItem(item.text.slice(at, at + output.length), output));
      at += output.length;
    }
  }
  return at === item.text.length && called.size === item.calls.length ? built : undefined;
}

function plainItems({ text, calls }: ModelItem): InputItem[] {
  const message: InputItem[] = text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }];
  return [...message, ...calls.map((call) => callItem(call, undefined))];
}

function messageItem(text: string, { id, phase }: Extract<OutputItem, { type: 'message' }>): InputItem {
  const ofPhase = phase !== undefined && { phase };
  if (id === undefined) return { type: 'message', role: 'assistant', content: text, ...ofPhase };
  const content = [{ type: 'output_text' as const, text, annotations: [], logprobs: [] }];
  return { type: 'message', role: 'assistant', id, status: 'completed', content, ...ofPhase };
}

function callItem({ ref, name, input }: SettledCall, id: string | undefined): InputItem {
  return {
    type: 'function_call',
    call_id: ref,
    name: acceptableName(name),
    arguments: JSON.stringify(input),
    ...(id !== undefined && { id }),
  };
}

function callOutput({ ref, output, media = [] }: SettledCall): InputItem {
  const text = resultText(output);
  return {
    type: 'function_call_output',
    call_id: ref,
    output: media.length === 0 ? text : [inputText(text), ...media.map(inputMedia)],
  };
}

function inputText(text: string) {
  return { type: 'input_text' as const, text };
}

function inputMedia(media: Media) {
  const { url } = media;
  if (isDocument(media))
    return {
      type: 'input_file' as const,
      ...(url.startsWith('data:') ? { filename: 'document.pdf', file_data: url } : { file_url: url }),
    };
  return { type: 'input_image' as const, image_url: url, detail: 'auto' as const };
}

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
