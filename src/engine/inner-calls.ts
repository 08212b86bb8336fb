import { waitingInside } from '../agent/calls/nested.ts';
import { type JsonValue, toJson } from '../agent/json.ts';
import type { Interrupt } from '../agent/messages.ts';

/** A call of a `generate` inside a tool. */
export type InnerCall = { readonly tool: string; readonly arguments: JsonValue };

/** Lists the calls that an approval of a pause lets run inside the tool; `undefined` if it lets the call itself run. */
export function innerCalls(interrupt: Interrupt): readonly InnerCall[] | undefined {
  const calls = waitingInside(interrupt).map(({ toolRequest: { name, input } }) => ({
    tool: name,
    arguments: toJson(input),
  }));
  return calls.length === 0 ? undefined : calls;
}
