import type { ChatMessage, ChatRequest } from '../model/chat-request.ts';
import type { CallOutcome, PastCall } from './rule.ts';

/** What people said in one go, and what was done since. */
export interface Exchange {
  /** Without the names of those who said it; at least one. */
  readonly messages: readonly string[];
  readonly calls: readonly PastCall[];
  /** Whether the model has had the last word. */
  readonly isAnswered: boolean;
}

/** A request as the script looks at it. */
export interface Conversation {
  readonly exchanges: readonly Exchange[];
  readonly system: string;
  readonly tools: readonly string[];
}

/** Reads a request's messages into exchanges; what stands before the first words of a person is left out. */
export function readConversation({ messages, tools = [] }: ChatRequest): Conversation {
  const starts = messages.flatMap(({ role }, index) =>
    role === 'user' && messages[index - 1]?.role !== 'user' ? [index] : [],
  );
  return {
    exchanges: starts.map((start, index) => readExchange(messages.slice(start, starts[index + 1]))),
    system: messages.flatMap((message) => (message.role === 'system' ? [textOf(message)] : [])).join('\n'),
    tools: tools.map((tool) => tool.function.name),
  };
}

function readExchange(messages: readonly ChatMessage[]): Exchange {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.tool_call_id, textOf(message)] as const] : [],
    ),
  );
  const calls = messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
          tool: name,
          input: parseJson(given),
          outcome: outcomeOf(parseJson(results.get(id) ?? '')),
        }))
      : [],
  );
  return {
    messages: messages.flatMap((message) => (message.role === 'user' ? [withoutName(textOf(message))] : [])),
    calls,
    isAnswered: messages.at(-1)?.role === 'assistant',
  };
}

/** A call without an output ends as an object with a status and a reason, or a message for an error. */
function outcomeOf(result: unknown): CallOutcome {
  if (typeof result === 'object' && result !== null && 'status' in result) {
    const { status } = result;
    const reason = 'reason' in result ? result.reason : 'message' in result ? result.message : undefined;
    if (typeof status === 'string' && typeof reason === 'string') return { kind: 'closed', status, reason };
  }
  return { kind: 'output', output: withoutWarning(result) };
}

/** What comes from outside is handed to the model with a warning around it. */
function withoutWarning(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'untrusted_output' in result
    ? result.untrusted_output
    : result;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A tool's output that is text comes as it is.
    return text;
  }
}

/** The bot writes the name of whoever speaks before their words. */
function withoutName(text: string): string {
  return text.replace(/^[^:\n]{1,80}: /, '').trim();
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => ('text' in part ? part.text : '')).join('');
}
