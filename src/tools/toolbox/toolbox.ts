import type { JsonObject } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import type { Policy } from '../gate/policy.ts';

/** Where and for whom the agent works. */
export interface Place {
  readonly channel: string;
  readonly requester: string;
}

/** How often an approved action may be tried after a crash. */
export interface Execution {
  readonly idempotent: boolean;
  readonly maxAttempts: number;
  readonly retryForMs: number;
}

/** What is known of one tool beside the tool itself. */
export interface ToolEntry {
  /** The tool behind its gate. */
  readonly tool: Tool;
  readonly source: 'built-in' | 'module' | 'mcp' | 'http';
  readonly execution: Execution;
  /** What a call really does, where that stands in the manifest: it is part of what is signed. Secrets are not in it. */
  readonly behind: JsonObject;
  /** Who may answer what the tool asks, where it asks. */
  readonly answerableBy: 'requester' | 'anyone';
}

/** What the agent may do, as the manifest that holds now says it. */
export interface Toolbox {
  /** The tools that the model may use there, behind their gates, and never more than a model takes. */
  toolsFor(place: Place): readonly Tool[];
  /** Every tool there is, whoever may use it. */
  tools(): readonly Tool[];
  find(name: string): ToolEntry | undefined;
  policy(name: string): Policy | undefined;
  /** Names every tool's definition and every policy as they are now. */
  ground(): string;
  /** What the model is told beforehand of who must sign what. */
  notice(place: Place): string;
  close(): Promise<void>;
}

/** OpenAI refuses a request with more tools, so that with one too many the agent would not answer at all. */
export const MOST_TOOLS = 128;
