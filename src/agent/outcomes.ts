import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from './json.ts';
import type { CallPart, Interrupt, NestedRun, ResponsePart, ToolPart } from './messages.ts';

/** The input that ran in place of the model's own, and the one the model gave. */
export interface ReplacedInput {
  readonly ran: JsonValue;
  readonly original: JsonValue;
}

/** The call ended; `output` is what the model is told. */
export function settledPart(
  call: CallPart,
  status: ResponsePart['status'],
  output: JsonValue,
  replaced?: ReplacedInput,
): ToolPart {
  const { name, ref } = call.toolRequest;
  const toolResponse = { name, ref, output };
  if (replaced === undefined) return { toolResponse, status };
  return { toolResponse, status, input: replaced.ran, metadata: { replacedInput: replaced.original } };
}

/** The call failed; the model is told why, as data. */
export function errorPart(call: CallPart, message: string, replaced?: ReplacedInput): ToolPart {
  return settledPart(call, 'error', { status: 'error', message }, replaced);
}

/** The call was denied; the model is told the status and the reason. */
export function deniedPart(call: CallPart, reason: string, replaced?: ReplacedInput): ToolPart {
  return settledPart(call, 'denied', { status: 'denied', reason }, replaced);
}

/** The call waits. Its input is the one that would run now. */
export function waitingPart(
  call: CallPart,
  details: {
    readonly metadata?: JsonObject | undefined;
    readonly nested?: readonly NestedRun[] | undefined;
    readonly resumed?: JsonObject | undefined;
    readonly replaced?: ReplacedInput | undefined;
  } = {},
): { readonly interrupt: Interrupt<string, JsonValue> } {
  const { name, ref, input } = call.toolRequest;
  const original = details.replaced && { replacedInput: details.replaced.original };
  const metadata = details.metadata === undefined ? original : { ...original, ...details.metadata };
  return {
    interrupt: {
      // It is part of a dozen entries of whoever keeps a record of the pause, so it is as short as it may be.
      id: randomUUID().replaceAll('-', '').slice(0, 24),
      toolRequest: { name, ref, input: details.replaced?.ran ?? input },
      ...(metadata !== undefined && { metadata }),
      ...(details.nested !== undefined && { nested: details.nested }),
      ...(details.resumed !== undefined && { resumed: details.resumed }),
    },
  };
}
