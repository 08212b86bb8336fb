import { canonicalJson, type JsonValue } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';

/** A waiting call of the latest round. */
export interface WaitingCall {
  readonly part: CallPart;
  readonly interrupt: Interrupt<string, JsonValue>;
}

/** Calls of one tool with the same arguments: people are asked about the first, and the others never run. */
export interface IdenticalCalls {
  readonly first: WaitingCall;
  readonly repeats: readonly WaitingCall[];
}

/** Groups identical calls, in the order of their first. The order of argument keys makes no difference. */
export function joinIdentical(waiting: readonly WaitingCall[]): IdenticalCalls[] {
  const [only] = waiting;
  if (only !== undefined && waiting.length === 1) return [{ first: only, repeats: [] }];
  const joined = new Map<string, { first: WaitingCall; repeats: WaitingCall[] }>();
  for (const call of waiting) {
    const { name, input } = call.interrupt.toolRequest;
    const key = `${name} ${canonicalJson(input)}`;
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { first: call, repeats: [] });
    else known.repeats.push(call);
  }
  return [...joined.values()];
}
