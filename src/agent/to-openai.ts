import type OpenAI from 'openai';
import type { JsonValue } from './json.ts';
import type { HistoryItem, ModelRequest, ToolSpec } from './model.ts';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ChatTool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;

/** Writes the system text and the history as OpenAI's messages: each call directly followed by its result, in order. */
export function toOpenAIMessages({
  system,
  history,
}: Pick<ModelRequest, 'system' | 'history'>): ChatMessage[] {
  const messages = writeHistory(history);
  return system === undefined ? messages.slice() : [{ role: 'system', content: system }, ...messages];
}

interface WrittenHistory {
  readonly messages: ChatMessage[];
  /** How many items of the history they are of. */
  items: number;
}

// A history only grows, and a loop sends it at every step.
const written = new WeakMap<readonly HistoryItem[], WrittenHistory>();

function writeHistory(history: readonly HistoryItem[]): readonly ChatMessage[] {
  const known = written.get(history) ?? { messages: [], items: 0 };
  if (known.items === 0) written.set(history, known);
  for (; known.items < history.length; known.items += 1) {
    const item = history[known.items];
    if (item !== undefined) writeItem(item, known.messages);
  }
  return known.messages;
}

function writeItem(item: HistoryItem, messages: ChatMessage[]): void {
  if (item.role === 'user') {
    messages.push({ role: 'user', content: item.text });
    return;
  }
  if (item.calls.length === 0) {
    messages.push({ role: 'assistant', content: item.text });
    return;
  }
  messages.push({
    role: 'assistant',
    content: item.text === '' ? null : item.text,
    tool_calls: item.calls.map(({ ref, name, input }) => ({
      id: ref,
      type: 'function' as const,
      function: { name: acceptableName(name), arguments: JSON.stringify(input) },
    })),
  });
  for (const { ref, output } of item.calls)
    messages.push({ role: 'tool', tool_call_id: ref, content: writeOutput(output) });
}

/** A name the model made up is repeated to it, but OpenAI refuses a whole request for one odd letter. */
function acceptableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

function writeOutput(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

const writtenTools = new WeakMap<ToolSpec['inputSchema'], ChatTool>();

/** Writes one tool for the model; a tool's schema never changes, so it is written once. */
export function toOpenAITool(tool: ToolSpec): ChatTool {
  const known = writtenTools.get(tool.inputSchema);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = tool;
  const made: ChatTool = {
    type: 'function',
    // OpenAI refuses an object schema without properties, which tools from elsewhere have when they take nothing.
    function: { name, description, parameters: { properties: {}, ...inputSchema } },
  };
  writtenTools.set(inputSchema, made);
  return made;
}
