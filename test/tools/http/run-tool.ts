import type { JsonObject } from '../../../src/agent/json.ts';
import type { Tool } from '../../../src/agent/tool.ts';

interface Call {
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Runs a tool as the loop does: the input is parsed first, and one that does not fit is thrown back. */
export async function runTool(tool: Tool, input: JsonObject, call: Call = {}): Promise<unknown> {
  const { idempotencyKey = 'key-1', signal = new AbortController().signal } = call;
  const parsed = tool.inputSchema.parse(structuredClone(input));
  if (!parsed.ok) throw new Error(`the input does not fit: ${parsed.field} ${parsed.problem}`);
  if (tool.kind !== 'tool') throw new Error('an interrupt cannot be run');
  const stop = (): never => {
    throw new Error('no HTTP tool pauses');
  };
  return await tool.run(parsed.value, {
    context: { requester: 'U1', channel: 'C1', threadId: 'T1' },
    interrupt: stop,
    deny: stop,
    resumed: undefined,
    attach: () => true,
    file: () => false,
    progress: () => undefined,
    idempotencyKey,
    callId: 'call-1',
    signal,
  });
}
