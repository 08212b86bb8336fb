import type OpenAI from 'openai';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { JsonRecord, type Media } from '../messages.ts';
import type { HistoryItem, SettledCall, ToolChoice, ToolSpec } from '../model.ts';
import { type AdapterRequest, acceptableName, parametersOf, resultText, strictOutput } from './request.ts';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ChatTool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;
type ChatCall = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall;
type ChatRequest = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ChatChoice = OpenAI.Chat.Completions.ChatCompletionToolChoiceOption;

/** The data that a compatible server wants back: fields of the message, and fields of each of its calls. */
export const ChatData = z.object({
  message: JsonRecord,
  calls: z.array(JsonRecord.nullable()).optional(),
});
export type ChatData = { readonly message: JsonObject; readonly calls?: readonly (JsonObject | null)[] };

/** Rules of one server that its refusals teach: for the history of another model it takes a placeholder. */
export type ChatQuirk = 'needs-signatures' | 'needs-reasoning' | 'old-max-tokens';

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
    stream_options: { include_usage: true },
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
export function chatMessages(
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
export function chatTool({ name, description, inputSchema }: ToolSpec): ChatTool {
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
  return [
    { type: 'text' as const, text },
    ...media.map(({ url }) => ({ type: 'image_url' as const, image_url: { url } })),
  ];
}
