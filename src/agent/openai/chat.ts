import type OpenAI from 'openai';
import { z } from 'zod';
import { type JsonObject, tryParseJson } from '../json.ts';
import { type Json, JsonRecord } from '../json-schema.ts';
import type { Media, Usage } from '../messages.ts';
import type { HistoryItem, ModelFinish, SettledCall, ToolChoice, ToolSpec } from '../model.ts';
import { streamError } from './errors.ts';
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

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ChatTool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;
type ChatCall = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall;
type ChatRequest = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ChatChoice = OpenAI.Chat.Completions.ChatCompletionToolChoiceOption;

/** The data that a compatible server wants back: fields of the message, and fields of each of its calls. */
const ChatData = z.object({
  message: JsonRecord,
  calls: z.array(JsonRecord.nullable()).optional(),
});
type ChatData = { readonly message: JsonObject; readonly calls?: readonly (JsonObject | null)[] };

/** Rules of one server that its refusals teach: for the history of another model it takes a placeholder; it may report no usage. */
export type ChatQuirk = 'needs-signatures' | 'needs-reasoning' | 'old-max-tokens' | 'no-stream-options';

/** Gemini accepts this in place of a signature that it did not write. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } };

/** Builds the body of a streaming Chat Completions request. */
export function chatRequest(
  request: AdapterRequest,
  quirks: ReadonlySet<ChatQuirk> = new Set(),
): ChatRequest {
  const { model, system, history, tools, config, outputSchema } = request;
  const instructions: ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
  const { maxOutputTokens } = config;
  return {
    model,
    messages: [...instructions, ...chatMessages(history, request.dataOf, quirks)],
    stream: true,
    ...(!quirks.has('no-stream-options') && { stream_options: { include_usage: true } }),
    ...(tools.length > 0 && {
      tools: tools.map(chatTool),
      ...(request.toolChoice !== undefined && { tool_choice: chatChoice(request.toolChoice) }),
      ...(config.parallelToolCalls !== undefined && { parallel_tool_calls: config.parallelToolCalls }),
    }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.topP !== undefined && { top_p: config.topP }),
    ...(maxOutputTokens !== undefined &&
      (quirks.has('old-max-tokens')
        ? { max_tokens: maxOutputTokens }
        : { max_completion_tokens: maxOutputTokens })),
    ...(config.reasoningEffort !== undefined && { reasoning_effort: config.reasoningEffort }),
    ...(config.verbosity !== undefined && { verbosity: config.verbosity }),
    ...(config.serviceTier !== undefined && { service_tier: config.serviceTier }),
    ...(outputSchema !== undefined && {
      response_format: { type: 'json_schema', json_schema: strictOutput(outputSchema) },
    }),
  };
}

/** Writes a history as OpenAI's messages: each message with calls is directly followed by their results, in order. */
function chatMessages(
  history: readonly HistoryItem[],
  dataOf: AdapterRequest['dataOf'] = () => undefined,
  quirks: ReadonlySet<ChatQuirk> = new Set(),
): ChatMessage[] {
  return history.flatMap((item): ChatMessage[] => {
    const { text } = item;
    if (item.role === 'user') return [{ role: 'user', content: chatContent(text, item.media) }];
    const given = dataOf(item);
    const data = given === undefined ? undefined : ChatData.safeParse(given).data;
    const extra = data?.message ?? {};
    if (item.calls.length === 0) return [{ role: 'assistant', content: text, ...extra }];
    const calls = item.calls.map((call, index) => ({
      ...chatCall(call),
      ...(data?.calls?.[index] ?? placeholder(index, quirks)),
    }));
    const reasoning = quirks.has('needs-reasoning') && { reasoning_content: '' };
    return [
      { role: 'assistant', content: text || null, tool_calls: calls, ...reasoning, ...extra },
      ...item.calls.map(chatResult),
      ...shownMedia(item.calls),
    ];
  });
}

/** Describes one tool for the model. */
function chatTool({ name, description, inputSchema }: ToolSpec): ChatTool {
  return { type: 'function', function: { name, description, parameters: parametersOf(inputSchema) } };
}

function chatChoice(choice: ToolChoice): ChatChoice {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } };
}

function placeholder(index: number, quirks: ReadonlySet<ChatQuirk>): object {
  return index === 0 && quirks.has('needs-signatures') ? { extra_content: NO_SIGNATURE } : {};
}

function chatCall({ ref, name, input }: SettledCall): ChatCall {
  return {
    id: ref,
    type: 'function',
    function: { name: acceptableName(name), arguments: JSON.stringify(input) },
  };
}

function chatResult({ ref, output }: SettledCall): ChatMessage {
  return { role: 'tool', tool_call_id: ref, content: resultText(output) };
}

/** Shows the images of results in a message of their own, because a `tool` message has only text. */
function shownMedia(calls: readonly SettledCall[]): ChatMessage[] {
  return calls.flatMap(({ name, media = [] }): ChatMessage[] =>
    media.length === 0 ? [] : [{ role: 'user', content: chatContent(`[Images from ${name}]`, media) }],
  );
}

function chatContent(text: string, media: readonly Media[] = []) {
  if (media.length === 0) return text;
  return [{ type: 'text' as const, text }, ...media.map(chatMedia)];
}

function chatMedia(media: Media) {
  const { url } = media;
  if (!isDocument(media)) return { type: 'image_url' as const, image_url: { url } };
  // Chat Completions takes no address of a file.
  if (!url.startsWith('data:')) return { type: 'text' as const, text: `[A PDF at ${url}]` };
  return { type: 'file' as const, file: { filename: 'document.pdf', file_data: url } };
}

const Text = z.string().nullish();
const ChatUsage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: z.object({ cached_tokens: OptionalCount }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: OptionalCount }).nullish().catch(undefined),
});
/** Some servers send content as a list of parts, with the model's thinking among them. */
const ContentPart = z.union([z.string(), z.object({ type: Text, text: Text })]);
const Content = z.union([z.string(), z.array(ContentPart)]).nullish();
/** Gemini's signatures. */
const Extra = JsonRecord.nullish().catch(undefined);
const CallPiece = z.object({
  index: z.number().nullish(),
  id: Text,
  function: z
    .object({ name: Text, arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
  extra_content: Extra,
});
type CallPiece = z.infer<typeof CallPiece>;
const Delta = z.object({
  content: Content,
  refusal: Text,
  tool_calls: z.array(CallPiece).nullish(),
  reasoning_content: Text.catch(undefined),
  reasoning_details: z.array(JsonRecord).nullish().catch(undefined),
  extra_content: Extra,
});
type Delta = z.infer<typeof Delta>;

/** One chunk of a stream, or a whole answer, which has a `message` in place of each `delta`. */
const Chunk = z.object({
  choices: z
    .array(z.object({ delta: Delta.nullish(), message: Delta.nullish(), finish_reason: Text }))
    .nullish(),
  usage: ChatUsage.nullish().catch(undefined),
  error: z.unknown().optional(),
  object: z.unknown().optional(),
});

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  extra: JsonObject | undefined;
}

/** Assembles an answer of Chat Completions. It tolerates the known deviations of servers that are compatible with OpenAI. */
export class ChatAnswer extends Answer {
  readonly #calls: PartialCall[] = [];
  readonly #details: JsonObject[] = [];
  #reasoning: string | undefined;
  #extra: JsonObject | undefined;
  #isRefused = false;
  #hasChoice = false;
  #finishReason: string | undefined;
  #usage: Usage | undefined;

  get isEmpty(): boolean {
    return this.text === '' && this.#calls.length === 0;
  }

  reply(broken?: 'cut' | 'aborted'): AdapterReply {
    return {
      finish: broken ?? this.#finish(),
      text: this.text,
      calls: this.#calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
      usage: this.#usage,
      data: this.#data(),
    };
  }

  #finish(): ModelFinish {
    if (this.#finishReason === undefined && this.failure !== undefined) return 'cut';
    if (this.#isRefused) return 'refusal';
    switch (this.#finishReason) {
      case 'length':
        return 'length';
      case 'content_filter':
        return 'content-filter';
      case undefined:
        return this.#hasChoice ? 'cut' : 'empty';
      default:
        return 'stop';
    }
  }

  protected add(value: unknown): string {
    const { choices, usage, error, object } = Chunk.parse(value);
    if (error !== undefined && error !== null) throw streamError(error);
    if (object === 'error') throw streamError(value);
    if (usage !== undefined && usage !== null) this.#usage = readUsage(usage);
    const choice = choices?.[0];
    if (choice === undefined) return '';
    this.#hasChoice = true;
    const { delta, message, finish_reason: finishReason } = choice;
    if (finishReason) this.#finishReason = finishReason;
    // A whole answer has nothing after it, whether or not it gives a reason.
    else if (message) this.#finishReason ??= 'stop';
    return this.#addDelta(delta ?? message ?? undefined);
  }

  #addDelta(delta: Delta | undefined): string {
    if (delta === undefined) return '';
    const { content, refusal } = delta;
    for (const piece of delta.tool_calls ?? []) this.#addCall(piece);
    // An empty text counts: DeepSeek wants it back as well.
    if (typeof delta.reasoning_content === 'string')
      this.#reasoning = `${this.#reasoning ?? ''}${delta.reasoning_content}`;
    for (const detail of delta.reasoning_details ?? []) addDetail(this.#details, detail);
    if (delta.extra_content) this.#extra = { ...this.#extra, ...delta.extra_content };
    if (refusal) this.#isRefused = true;
    return textOf(content) || refusal || '';
  }

  #addCall(piece: CallPiece): void {
    let call = this.#findCall(piece);
    if (call === undefined) {
      call = { index: piece.index ?? undefined, id: '', name: '', arguments: '', extra: undefined };
      this.#calls.push(call);
    }
    call.id ||= piece.id ?? '';
    call.name ||= piece.function?.name ?? '';
    call.arguments += argumentsOf(piece);
    if (piece.extra_content) call.extra = { ...call.extra, ...piece.extra_content };
  }

  /** Finds the call that a piece continues; `undefined` means that it starts a new call. */
  #findCall(piece: CallPiece): PartialCall | undefined {
    const { index, id } = piece;
    // Ollama gives every call of an answer the index 0; others give no index and repeat the id in each piece.
    const candidates =
      typeof index === 'number' ? this.#calls.filter((call) => call.index === index) : this.#calls;
    const known = id ? candidates.find((call) => call.id === id) : undefined;
    const latest = candidates.at(-1);
    return known ?? (latest === undefined || startsCall(piece, latest) ? undefined : latest);
  }

  #data(): ChatData | undefined {
    const message = {
      ...(this.#reasoning !== undefined && { reasoning_content: this.#reasoning }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#extra !== undefined && { extra_content: this.#extra }),
    };
    const hasCallData = this.#calls.some(({ extra }) => extra !== undefined);
    if (Object.keys(message).length === 0 && !hasCallData) return undefined;
    const calls = this.#calls.map(({ extra }) => (extra === undefined ? null : { extra_content: extra }));
    return { message, ...(hasCallData && { calls }) };
  }
}

/** Adds one of OpenRouter's details: pieces of one text have the same type and index and are joined. */
function addDetail(details: JsonObject[], detail: JsonObject): void {
  const place = details.findIndex(
    ({ type, index }) => type === detail.type && index !== undefined && index === detail.index,
  );
  const before = details[place];
  if (before === undefined) {
    details.push(detail);
    return;
  }
  const joined: Record<string, z.infer<typeof Json>> = { ...before, ...detail };
  for (const key of ['text', 'summary', 'data']) {
    if (typeof before[key] === 'string' && typeof detail[key] === 'string')
      joined[key] = before[key] + detail[key];
  }
  details[place] = joined;
}

/** Decides whether a piece with an unknown id or none starts a call, and does not continue the latest one in its place. */
function startsCall({ index, id, function: called }: CallPiece, latest: PartialCall): boolean {
  if (typeof index !== 'number' && id) return true;
  // A call is named in its first piece; some versions of vLLM give each later piece a new id.
  if (!called?.name || latest.name === '') return false;
  return Boolean(id) || called.name !== latest.name || tryParseJson(latest.arguments) !== undefined;
}

function argumentsOf(piece: CallPiece): string {
  const given = piece.function?.arguments ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function textOf(content: z.infer<typeof Content>): string {
  if (!Array.isArray(content)) return content ?? '';
  const texts = content.map((part) => {
    if (typeof part === 'string') return part;
    return (part.type ?? 'text') === 'text' ? (part.text ?? '') : '';
  });
  return texts.join('');
}

function readUsage(usage: z.infer<typeof ChatUsage>): Usage {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage;
  const cachedTokens = usage.prompt_tokens_details?.cached_tokens;
  const reasoningTokens = usage.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.total_tokens || inputTokens + outputTokens,
    ...(cachedTokens && { cachedTokens }),
    ...(reasoningTokens && { reasoningTokens }),
  };
}
