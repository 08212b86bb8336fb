import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../json.ts';
import type { CallPart, Interrupt, Media, NestedRun, ResponsePart, ToolPart } from '../messages.ts';

/** An input that replaced the model's: `ran` is the new one, `original` the model's. */
export interface ReplacedInput {
  readonly ran: JsonValue;
  readonly original: JsonValue;
}

/** Builds the result of a call that ended; `output` is what the model sees. */
export function settledPart(
  call: CallPart,
  status: ResponsePart['status'],
  output: JsonValue,
  replaced?: ReplacedInput,
  media: readonly Media[] = [],
): ResponsePart {
  const { name, ref } = call.toolRequest;
  const content = media.map((image) => ({ media: { ...image } }));
  const toolResponse = { name, ref, output, ...(content.length > 0 && { content }) };
  if (replaced === undefined) return { toolResponse, status };
  return { toolResponse, status, input: replaced.ran, metadata: { replacedInput: replaced.original } };
}

/** Adds what became of the files of a call; the model reads it with the output. */
export function withFiles(part: ResponsePart, files: readonly string[]): ResponsePart {
  return files.length === 0 ? part : { ...part, metadata: { ...part.metadata, files: [...files] } };
}

/** Adds the person who supplied an output, if the reply names one and the call has not paused. */
export function answeredPart(part: ToolPart, answeredBy: string | undefined): ToolPart {
  if (answeredBy === undefined || !('toolResponse' in part)) return part;
  return { ...part, metadata: { ...part.metadata, answeredBy } };
}

/** Builds the result of a call that failed; the model sees the message as data. */
export function errorPart(call: CallPart, message: string, replaced?: ReplacedInput): ToolPart {
  return settledPart(call, 'error', { status: 'error', message }, replaced);
}

/** Builds the result of a call that was denied; the model sees the reason. */
export function deniedPart(call: CallPart, reason: string, replaced?: ReplacedInput): ToolPart {
  return settledPart(call, 'denied', { status: 'denied', reason }, replaced);
}

/** Builds the interrupt of a call that waits; its input is the one that would run now. */
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
  const { nested, resumed, replaced } = details;
  const original = replaced && { replacedInput: replaced.original };
  const metadata = details.metadata === undefined ? original : { ...original, ...details.metadata };
  return {
    interrupt: {
      // Short, because a record of the pause repeats it in many keys.
      id: randomUUID().replaceAll('-', '').slice(0, 24),
      toolRequest: { name, ref, input: replaced === undefined ? input : replaced.ran },
      ...(metadata !== undefined && { metadata }),
      ...(nested !== undefined && { nested }),
      ...(resumed !== undefined && { resumed }),
    },
  };
}
