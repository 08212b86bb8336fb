import type OpenAI from 'openai';
import type { HistoryItem, ModelRequest, SettledCall, ToolSpec } from '../model.ts';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ChatTool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;
type ChatCall = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall;

/** Builds the body of a streaming Chat Completions request. */
export function chatRequest(
  model: string,
  { system, history, tools }: Pick<ModelRequest, 'system' | 'history' | 'tools'>,
): OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming {
  const instructions: ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...instructions, ...chatMessages(history)],
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tools: tools.map(chatTool) }),
  };
}

/** Writes a history as OpenAI's messages: each message with calls is directly followed by their results, in order. */
export function chatMessages(history: readonly HistoryItem[]): ChatMessage[] {
  return history.flatMap((item): ChatMessage[] => {
    const { text } = item;
    if (item.role === 'user') return [{ role: 'user', content: text }];
    if (item.calls.length === 0) return [{ role: 'assistant', content: text }];
    const calls = { role: 'assistant', content: text || null, tool_calls: item.calls.map(chatCall) } as const;
    return [calls, ...item.calls.map(chatResult)];
  });
}

/** Describes one tool for the model. */
export function chatTool({ name, description, inputSchema }: ToolSpec): ChatTool {
  // OpenAI refuses an object schema without properties, which MCP servers send for tools that take nothing.
  const parameters = { properties: {}, ...inputSchema };
  return { type: 'function', function: { name, description, parameters } };
}

function chatCall({ ref, name, input }: SettledCall): ChatCall {
  return {
    id: ref,
    type: 'function',
    function: { name: acceptableName(name), arguments: JSON.stringify(input) },
  };
}

function chatResult({ ref, output }: SettledCall): ChatMessage {
  const content = typeof output === 'string' ? output : JSON.stringify(output);
  return { role: 'tool', tool_call_id: ref, content };
}

/** Replaces what OpenAI does not allow in a name: it refuses the whole request for one such character of a made-up name. */
function acceptableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
