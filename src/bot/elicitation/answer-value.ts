import { type JsonValue, tryParseJson } from '../../agent/json.ts';
import { PauseEnd } from '../../tools/mcp/server-pause.ts';

/** The answer of a person who gives a server nothing. */
export const DECLINED: JsonValue = { action: 'decline' };

/** Builds the answer to a server's question: the values of its form, or nothing for an address that was opened. */
export function acceptedValue(content?: JsonValue): JsonValue {
  return content === undefined ? { action: 'accept' } : { action: 'accept', content };
}

/** Parses the answer to a server's question; `undefined` if it is none. */
export function parseAnswerValue(payload: string | undefined): PauseEnd | undefined {
  return PauseEnd.safeParse(tryParseJson(payload ?? '')).data;
}
