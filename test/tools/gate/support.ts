import { type RunSettings, runCall } from '../../../src/agent/calls/run-call.ts';
import type { JsonObject, JsonValue } from '../../../src/agent/json.ts';
import type { ToolPart } from '../../../src/agent/messages.ts';
import type { Tool, ToolHelpers } from '../../../src/agent/tool.ts';
import { defineTool } from '../../../src/index.ts';
import { type ApprovalRule, compileApprovalRules } from '../../../src/policy/rules.ts';
import { gate } from '../../../src/tools/gate.ts';

export type Action = Extract<Tool, { kind: 'tool' }>;

/** A tool that takes any object and remembers what it ran with. */
export function takesAnything(name = 'anything', act: (helpers: ToolHelpers) => unknown = () => 'ran') {
  const ran: unknown[] = [];
  const tool: Action = defineTool(
    { name, description: 'Takes anything.', inputSchema: { type: 'object' } },
    (input, helpers) => {
      const output = act(helpers);
      ran.push(input);
      return output;
    },
  );
  return { tool, ran };
}

/** The same behind rules. */
export function gated(rules: readonly ApprovalRule[], act?: (helpers: ToolHelpers) => unknown) {
  const { tool, ran } = takesAnything('anything', act);
  return { tool: gate(tool, compileApprovalRules(rules)), ran };
}

/** Runs one call as the loop does; with `resumed`, as a restart of it. */
export function runOnce(
  tool: Tool,
  input: JsonValue,
  options: Partial<Pick<RunSettings, 'context' | 'onProgress' | 'onToolError'>> & {
    readonly resumed?: JsonObject;
    readonly idempotencyKey?: string;
  } = {},
): Promise<ToolPart> {
  const { context = { requester: 'U1', channel: 'C1', threadId: 'T1' }, resumed } = options;
  const { idempotencyKey = 'key-1' } = options;
  const settings = {
    context,
    signal: new AbortController().signal,
    onProgress: options.onProgress,
    onToolError: options.onToolError,
    journal: undefined,
    files: undefined,
    messages: () => [],
  };
  const call = { toolRequest: { name: tool.name, ref: 'r1', input }, idempotencyKey };
  return runCall(
    tool,
    call,
    settings,
    resumed === undefined ? undefined : { resumed, replaced: undefined, nested: undefined },
  );
}

/** The interrupt of a part that waits. */
export function interruptIn(part: ToolPart) {
  if (!('interrupt' in part)) throw new Error(`Nothing waits: ${JSON.stringify(part)}`);
  return part.interrupt;
}
