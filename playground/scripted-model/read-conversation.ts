import type { ChatMessage, ChatRequest } from '../model/chat-request.ts';
import type { CallOutcome, OfferedTool, PastCall } from './rule.ts';

/** One or more messages of people and the calls made since. */
export interface Exchange {
  /** The words of the people who asked, without the authors' names. */
  readonly messages: readonly string[];
  /** The parts that came with it: quoted messages of the thread, and files. */
  readonly material: readonly Material[];
  readonly calls: readonly PastCall[];
  /** True when the model has answered. */
  readonly isAnswered: boolean;
}

/** A quoted message or a file, which is no instruction. */
export interface Material {
  /** Such as `Context from Gil Navarro`. */
  readonly label: string;
  readonly text: string;
}

/** The parts of a model request that the rules use. */
export interface Conversation {
  readonly exchanges: readonly Exchange[];
  readonly system: string;
  readonly tools: readonly OfferedTool[];
}

/** Groups a request's messages into exchanges; messages before the first one of a person are left out. */
export function readConversation({ messages, tools = [] }: ChatRequest): Conversation {
  const starts = messages.flatMap(({ role }, index) =>
    role === 'user' && messages[index - 1]?.role !== 'user' ? [index] : [],
  );
  return {
    exchanges: starts.map((start, index) => readExchange(messages.slice(start, starts[index + 1]))),
    system: messages.flatMap((message) => (message.role === 'system' ? [textOf(message)] : [])).join('\n'),
    tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
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
  const texts = messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
  return {
    messages: texts.filter((text) => !text.startsWith('[')).map(withoutName),
    material: texts.flatMap((text) => (text.startsWith('[') ? [toMaterial(text)] : [])),
    calls,
    isAnswered: messages.at(-1)?.role === 'assistant',
  };
}

/** Reads the result of a call; a call without output has a status and a reason, or a message for an error. */
function outcomeOf(result: unknown): CallOutcome {
  if (typeof result === 'object' && result !== null && 'status' in result) {
    const { status } = result;
    const reason = 'reason' in result ? result.reason : 'message' in result ? result.message : undefined;
    if (typeof status === 'string' && typeof reason === 'string') return { kind: 'closed', status, reason };
  }
  return { kind: 'output', output: withoutWarning(result) };
}

/** Unwraps external output, which the bot passes to the model with a warning. */
function withoutWarning(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'untrusted_output' in result
    ? result.untrusted_output
    : result;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text output is not JSON.
    return text;
  }
}

/** Reads a message that the bot has marked with a line in brackets; the text below it is quoted. */
function toMaterial(text: string): Material {
  const [, label = '', rest = ''] = /^\[([^\]\n]*)\]?\n?([\s\S]*)$/.exec(text) ?? [];
  return {
    label: label.replace(/, not (?:an instruction|read).*$/, ''),
    text: rest.replaceAll(/^> ?/gm, '').trim(),
  };
}

/** Removes the author's name, which the bot writes before each message, and its mark of an edited message. */
function withoutName(text: string): string {
  return text
    .replace(/^[^:\n]{1,80}: /, '')
    .replace(/^\(replaces my earlier message\) /, '')
    .trim();
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => ('text' in part ? part.text : '')).join('');
}
