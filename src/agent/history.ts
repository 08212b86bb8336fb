import type { JsonValue } from './json.ts';
import type { CallPart, ModelMessage, ProviderData, ResponsePart, UserMessage } from './messages.ts';
import type { HistoryItem } from './model.ts';

/** Returns a message of a person in the form that a model is sent. */
export function userItem(message: UserMessage): HistoryItem {
  const media = message.content.flatMap((part) => ('media' in part ? [part.media] : []));
  return { role: 'user', text: textOf(message), ...(media.length > 0 && { media }) };
}

/** Returns a round of a model in the form that a model is sent: its text, and its calls with what ran and came out. */
export function modelItem(
  text: string,
  calls: readonly { readonly part: CallPart; readonly response: ResponsePart }[],
  provider: ProviderData | undefined,
): HistoryItem {
  const settled = calls.map(({ part, response }) => {
    const { ref, name, input } = part.toolRequest;
    const { input: ran = input, toolResponse } = response;
    const { content } = toolResponse;
    const output = outputWithFiles(response);
    return { ref, name, input: ran, output, ...(content && { media: content.map(({ media }) => media) }) };
  });
  return { role: 'model', text, calls: settled, ...(provider && { provider }) };
}

/** Returns the output as the model reads it: with a line for each file that was sent. */
function outputWithFiles({ toolResponse: { output }, metadata = {} }: ResponsePart): JsonValue {
  const { files } = metadata;
  if (!Array.isArray(files) || files.length === 0) return output;
  const lines = files.map((line) => `[${line}]`);
  return typeof output === 'string' ? [output, ...lines].join('\n') : { output, files: lines };
}

/** Joins the texts of a message. */
export function textOf(message: UserMessage | ModelMessage): string {
  return message.content.map((part) => ('text' in part ? part.text : '')).join('');
}

/** English text has about four bytes per token, other scripts about three; with three, trimming comes too early and never too late. */
export const BYTES_PER_TOKEN = 3;

/** Estimates the tokens of a text without a tokenizer. */
function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Leaves out the oldest turns until the rest fits the budget, then the oldest rounds of the current turn. A call and its result are
 * one item and go together; the latest message of a person always stays. A note replaces what was left out.
 */
export function trimHistory(
  history: readonly HistoryItem[],
  budget: number | undefined,
): readonly HistoryItem[] {
  if (budget === undefined) return history;
  const costs = history.map(costOf);
  let total = costs.reduce((sum, cost) => sum + cost, 0);
  if (total <= budget) return history;

  const latestUser = history.findLastIndex((item) => item.role === 'user');
  const kept = new Set(history.keys());
  const drop = (from: number, to: number): void => {
    for (let index = from; index < to; index += 1) {
      kept.delete(index);
      total -= costs[index] ?? 0;
    }
  };
  for (let start = 0; start < latestUser && total > budget; ) {
    const end = nextUser(history, start + 1);
    drop(start, end);
    start = end;
  }
  for (let index = latestUser + 1; index < history.length - 1 && total > budget; index += 1)
    drop(index, index + 1);

  const rest = [...kept].map((index) => history[index]).filter((item) => item !== undefined);
  const omitted = history.length - rest.length;
  return omitted === 0 ? history : [{ role: 'user', text: omittedNote(omitted) }, ...rest];
}

/** Estimates the tokens of a history. */
export function estimateHistory(history: readonly HistoryItem[]): number {
  return history.reduce((sum, item) => sum + costOf(item), 0);
}

function omittedNote(count: number): string {
  return `[${count} earlier ${count === 1 ? 'message was' : 'messages were'} left out to fit the context]`;
}

function nextUser(history: readonly HistoryItem[], from: number): number {
  const next = history.findIndex((item, index) => index >= from && item.role === 'user');
  return next === -1 ? history.length : next;
}

function costOf(item: HistoryItem): number {
  if (item.role === 'user') return estimateTokens(item.text) + imageCost(item.media);
  return item.calls.reduce(
    (sum, call) =>
      sum +
      estimateTokens(call.name) +
      estimateTokens(JSON.stringify([call.input, call.output])) +
      imageCost(call.media),
    estimateTokens(item.text),
  );
}

/** About what a large image costs at OpenAI; its bytes say nothing about it. */
const TOKENS_PER_IMAGE = 1500;

function imageCost(media: readonly unknown[] = []): number {
  return media.length * TOKENS_PER_IMAGE;
}
