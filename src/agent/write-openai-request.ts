import type OpenAI from 'openai';
import type { JsonValue } from './json.ts';
import type { HistoryItem, ModelRequest, SettledCall, ToolSpec } from './model.ts';

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ChatTool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;

const STREAMED = JSON.stringify({
  stream: true,
  stream_options: { include_usage: true },
} satisfies Partial<Body>).slice(1, -1);

/** Writes the body of a request to a model; what was written of a history or a tool before is not written again. */
export function writeRequest(
  model: string,
  { system, history, tools }: Pick<ModelRequest, 'system' | 'history' | 'tools'>,
): string {
  const messages = writeHistory(history);
  const first =
    system === undefined ? '' : JSON.stringify({ role: 'system', content: system } satisfies ChatMessage);
  const join = first === '' || messages === '' ? '' : ',';
  const offered = tools.length === 0 ? '' : `,"tools":[${tools.map(writeTool).join(',')}]`;
  return `{"model":${JSON.stringify(model)},"messages":[${first}${join}${messages}],${STREAMED}${offered}}`;
}

interface WrittenHistory {
  text: string;
  /** How many items of the history it is of. */
  items: number;
}

// A history only grows, and a loop sends it at every step.
const written = new WeakMap<readonly HistoryItem[], WrittenHistory>();

/** Writes a history as OpenAI's messages, without the brackets around them: each call directly followed by its result, in order. */
export function writeHistory(history: readonly HistoryItem[]): string {
  const known = written.get(history) ?? { text: '', items: 0 };
  if (known.items === history.length) return known.text;
  if (known.items === 0) written.set(history, known);
  for (; known.items < history.length; known.items += 1) {
    const item = history[known.items];
    if (item !== undefined) known.text += `${known.text === '' ? '' : ','}${writeItem(item)}`;
  }
  return known.text;
}

/** Words that were read back are sent as they stand; to write them anew would take as long as to read them did. */
function writeItem(item: HistoryItem): string {
  const { text, words = JSON.stringify(text) } = item;
  if (item.role === 'user') return `{"role":"user","content":${words}}`;
  if (item.calls.length === 0) return `{"role":"assistant","content":${words}}`;
  const calls = item.calls.map(writeCall).join(',');
  const results = item.calls.map(writeResult).join(',');
  return `{"role":"assistant","content":${text === '' ? null : words},"tool_calls":[${calls}]},${results}`;
}

function writeCall({ ref, name, input, inputWords = JSON.stringify(input) }: SettledCall): string {
  const called = `{"name":"${acceptableName(name)}","arguments":${JSON.stringify(inputWords)}}`;
  return `{"id":${JSON.stringify(ref)},"type":"function","function":${called}}`;
}

function writeResult({ ref, output, outputWords }: SettledCall): string {
  // A text is sent as it is, anything else as the text of its JSON.
  const isText = outputWords?.startsWith('"') === true;
  const content = isText ? outputWords : JSON.stringify(outputWords ?? writeOutput(output));
  return `{"role":"tool","tool_call_id":${JSON.stringify(ref)},"content":${content}}`;
}

/** A name the model made up is repeated to it, but OpenAI refuses a whole request for one odd letter. */
function acceptableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

function writeOutput(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

const writtenTools = new WeakMap<
  ToolSpec['inputSchema'],
  { readonly tool: ToolSpec; readonly text: string }
>();

/** Writes one tool for the model; a tool's schema never changes, so it is written once, unless two tools share it. */
export function writeTool(tool: ToolSpec): string {
  const { name, description, inputSchema } = tool;
  const known = writtenTools.get(inputSchema);
  if (known?.tool.name === name && known.tool.description === description) return known.text;
  const chatTool: ChatTool = {
    type: 'function',
    // OpenAI refuses an object schema without properties, which tools from elsewhere have when they take nothing.
    function: { name, description, parameters: { properties: {}, ...inputSchema } },
  };
  const text = JSON.stringify(chatTool);
  writtenTools.set(inputSchema, { tool, text });
  return text;
}
