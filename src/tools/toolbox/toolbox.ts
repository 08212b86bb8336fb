import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import type { ApprovalVerdict } from '../gate/approval-rules.ts';
import type { LimitTotals } from '../gate/condition.ts';
import type { CallPlace } from '../gate/gate.ts';
import type { Limit } from '../gate/limits.ts';
import type { Policy } from '../gate/policy.ts';
import type { Explanation } from '../gate/strictest.ts';
import type { ElicitationDeclaration } from '../manifest/manifest.ts';
import type { RequesterServer } from '../mcp/auth/person/connections.ts';
import type { Presentation } from '../presentation/presentation.ts';
import type { PreviewSource } from '../presentation/preview.ts';
import type { UndoSource } from '../presentation/undo.ts';

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
  /**
   * Everything beside the tool's own definition that decides what a call does: the entry as written, the filled-in address, and the
   * digest of the module or of the server's definition. It is part of what is approved and goes nowhere else.
   */
  readonly behind: JsonObject;
  /** Applies the rules of the active manifest to a call, for everyone whose words led to it. */
  judge(input: JsonValue, place: CallPlace): ApprovalVerdict;
  /**
   * The same with the person for whom the verdict is that strict, and what each rule said; at a given time, else now. Without totals, a
   * condition that asks for those of a limit cannot be evaluated.
   */
  explain(input: JsonValue, place: CallPlace, now?: Date, totals?: LimitTotals): Explanation;
  /** The limits that its calls count against. */
  readonly limits: readonly Limit[];
  /** Tells whether everyone whose words led to a call may use the tool there. */
  allows(place: CallPlace): boolean;
  /** The policy whose resolvers are asked about an unknown outcome of a call that needed no approval. */
  readonly resolvedBy?: string | undefined;
  /** Puts its calls into words for people. */
  readonly presentation: Presentation;
  /** Computes what a call would change, if the tool or the manifest can say. */
  readonly preview?: PreviewSource | undefined;
  /** The server at which a call runs in the name of its first requester. */
  readonly runsAsRequester?: RequesterServer | undefined;
  /** The way to take back a call that succeeded, if the tool or the manifest names one. */
  readonly undo?: UndoSource | undefined;
  /** The people who may answer when the tool asks. */
  readonly answerableBy: 'requester' | 'anyone';
  /** The people who are asked when the tool's server needs input. */
  readonly elicitation?: ElicitationDeclaration | undefined;
}

/** The tools and policies of the manifest that is active now. */
export interface Toolbox {
  /** Returns the tools that the model may use there, behind their gates; at most `MAX_TOOLS`. */
  toolsFor(place: Place): readonly Tool[];
  /** Returns every tool, also those that few may use. */
  tools(): readonly Tool[];
  /** Lists the tools of a tool's server again, so that `find` returns it as it is now; does nothing for other tools. */
  refresh(name: string): Promise<void>;
  find(name: string): ToolEntry | undefined;
  policy(name: string): Policy | undefined;
  policies(): readonly Policy[];
  /** Lists the servers whose calls run in the name of their requesters. */
  requesterServers(): readonly RequesterServer[];
  /** Returns the text that tells the model beforehand which calls need approval, and whose. */
  notice(place: Place): string;
  close(): Promise<void>;
}
