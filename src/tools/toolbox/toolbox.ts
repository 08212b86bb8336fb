import type { JsonObject } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import type { Policy } from '../gate/policy.ts';

/** Limits the tools of one request. OpenAI refuses a request with more, so the agent would not answer at all. */
export const MAX_TOOLS = 128;

/** The channel and the people that the agent works for. */
export interface Place {
  readonly channel: string;
  readonly requester: string;
  /** Everyone else whose words the model reads; a tool is offered only if all of them may use it. */
  readonly others?: readonly string[];
}

/** Limits the attempts of an approved action after a crash. */
export interface Execution {
  readonly idempotent: boolean;
  readonly maxAttempts: number;
  readonly retryForMs: number;
}

/** Runs the function of a tool, possibly with other helpers, so that a caller can watch each run. */
export type AroundRun = (
  name: string,
  input: unknown,
  helpers: ToolHelpers,
  run: (helpers: ToolHelpers) => unknown,
) => Promise<unknown>;

/** One tool with what the manifest says of it. */
export interface ToolEntry {
  /** The tool behind its gate. */
  readonly tool: Tool;
  readonly source: 'built-in' | 'module' | 'mcp' | 'http';
  readonly execution: Execution;
  /** The part of the manifest that decides what a call does; it is part of what is approved. It holds no secrets. */
  readonly behind: JsonObject;
  /** The policy whose resolvers are asked about an unknown outcome of a call that needed no approval. */
  readonly resolvedBy?: string | undefined;
  /** The people who may answer when the tool asks. */
  readonly answerableBy: 'requester' | 'anyone';
}

/** The tools and policies of the manifest that is active now. */
export interface Toolbox {
  /** Returns the tools that the model may use there, behind their gates; at most `MAX_TOOLS`. */
  toolsFor(place: Place): readonly Tool[];
  /** Returns every tool, whoever may use it. */
  tools(): readonly Tool[];
  find(name: string): ToolEntry | undefined;
  policy(name: string): Policy | undefined;
  /** Returns the text that tells the model beforehand which calls need approval, and whose. */
  notice(place: Place): string;
  close(): Promise<void>;
}
