import type { JsonObject } from '../../../slack/state/types.ts';

/** A part of one of the model's messages. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly tool: string; readonly status: string; readonly output: unknown }
  | { readonly kind: 'pause'; readonly tool: string };

/** Splits a message into parts; a part of unknown shape appears only in the raw JSON. */
export function partsOf(message: JsonObject): readonly MessagePart[] {
  if (typeof message.text === 'string') return [{ kind: 'text', text: message.text }];
  const content: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
  return content.filter(isObject).flatMap((part): MessagePart[] => {
    const { text, toolRequest, toolResponse, interrupt, status } = part;
    if (typeof text === 'string') return [{ kind: 'text', text }];
    if (isObject(toolRequest)) return [{ kind: 'call', tool: nameIn(toolRequest), input: toolRequest.input }];
    if (isObject(toolResponse)) {
      const { output } = toolResponse;
      return [{ kind: 'result', tool: nameIn(toolResponse), status: wordOf(status), output }];
    }
    if (isObject(interrupt) && isObject(interrupt.toolRequest))
      return [{ kind: 'pause', tool: nameIn(interrupt.toolRequest) }];
    return [];
  });
}

/** Returns a label for a message's role. */
export function roleOf({ role }: JsonObject): string {
  if (role === 'user') return 'Person';
  if (role === 'model') return 'Model';
  return role === 'tool' ? 'Tools' : 'Unreadable';
}

function nameIn({ name }: JsonObject): string {
  return wordOf(name);
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : 'unknown';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
