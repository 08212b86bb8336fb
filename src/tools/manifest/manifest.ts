import type { JsonObject } from '../../agent/json.ts';
import type { ModelConfig } from '../../agent/model.ts';
import type { Effect } from '../../agent/tool.ts';
import type { PlannedFreeze } from '../../policy/freezes.ts';
import type { Limit } from '../../policy/limits.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reversible } from '../../policy/reversible.ts';
import type { ApprovalRule } from '../../policy/rules.ts';
import type { CallerDeclaration } from '../callers.ts';
import type { HttpToolDefinition } from '../http/http-tool.ts';
import type { McpConfig } from '../mcp/mcp-config.ts';
import type { PreviewDeclaration, UndoDeclaration } from '../presentation/linked-call.ts';
import type { TextDeclaration } from '../presentation/presentation.ts';
import type { BUILT_IN_NAMES, FILE_KINDS } from './schema/agent.ts';
import type { ImagePlace } from './schema/tools.ts';

/** Limits the tools of one request. OpenAI refuses a request with more, so the agent would not answer at all. */
export const MAX_TOOLS = 128;

/** The people who may answer a built-in interrupt; one that is off is not offered to the model. */
export type BuiltInUse = 'off' | 'anyone' | 'requester';
export type BuiltInName = (typeof BUILT_IN_NAMES)[number];

/** Limits the requests that wait for people at a time. */
export interface PendingLimits {
  readonly pendingPerThread: number;
  /** Per requester, over all threads. */
  readonly pendingPerPerson: number;
}

/** The people who may ask: the full members of the bot's own workspace, and those whom the lists name. */
export interface Askers {
  /** Guests and people of other organisations, by id. */
  readonly people: readonly string[];
  readonly groups: readonly string[];
  /** Channels in which guests and people of other organisations may ask. */
  readonly channels: readonly string[];
  readonly guests: boolean;
  readonly external: boolean;
  /** Ids of other bots, or of their users. */
  readonly bots: readonly string[];
  /** Whether all full members may; otherwise only those whom the lists name. */
  readonly members: boolean;
}

/** Whether a mention in a thread lets the model read the thread, or the mention alone. */
export type ContextMode = 'thread' | 'mention';

/** The settings of one channel that differ from the agent's. */
export interface ChannelDeclaration {
  readonly context: ContextMode | undefined;
  /** Text beside the agent's own instructions. */
  readonly instructions: string | undefined;
  /** Patterns of the tools that may be used there; `undefined` means all. */
  readonly tools: readonly string[] | undefined;
  readonly model: string | undefined;
  /** Whether the topic is read as context. */
  readonly topic: boolean;
}

/** The limits of files that people attach and that tools send. */
export interface FileLimits {
  readonly maxBytes: number;
  /** The most files that one turn reads. */
  readonly maxCount: number;
  readonly timeoutMs: number;
  readonly types: readonly (typeof FILE_KINDS)[number][];
}

/** The most tokens to spend; `undefined` means no limit. A day is one in UTC. */
export interface Budgets {
  readonly perTurn: number | undefined;
  readonly perThread: number | undefined;
  readonly perPerson: number | undefined;
  readonly perDay: number | undefined;
}

/** The model that answers, and how it is asked. */
export interface ModelDeclaration {
  readonly model: string | undefined;
  readonly fallbackModels: readonly string[];
  readonly api: 'auto' | 'responses' | 'chat';
  readonly config: ModelConfig;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
}

/** The people who may end a freeze, and how many of them must. */
export interface UnfreezeRule {
  /** Ids of people and user groups. */
  readonly approvers: readonly string[];
  readonly quorum: number;
}

/** How plans are made. */
export interface PlanRules {
  /** Whether several calls of one answer that need approval become a plan by themselves. */
  readonly collect: boolean;
}

export interface AgentDeclaration extends ModelDeclaration {
  readonly budgets: Budgets;
  readonly instructions: string | undefined;
  readonly maxSteps: number;
  /** The time zone of conditions whose policy names no other. */
  readonly timeZone: string;
  /** In tokens. */
  readonly contextBudget: number | undefined;
  readonly context: ContextMode;
  /** `undefined` if files are switched off. */
  readonly files: FileLimits | undefined;
  readonly channels: ReadonlyMap<string, ChannelDeclaration>;
  /** Whether the agent may ask once for several calls; `undefined` if it may not. */
  readonly plans: PlanRules | undefined;
  /** Whether final answers have feedback buttons. */
  readonly feedback: boolean;
  readonly limits: PendingLimits;
  readonly askers: Askers;
  readonly admins: readonly string[];
  /** Where approvers decide: on the card in the thread too, or only in their direct messages. */
  readonly cardButtons: 'thread' | 'approvers';
  /** The days in which a call that succeeded keeps the next one from being a first one. */
  readonly firstDays: number;
  /** By default one admin. */
  readonly unfreeze: UnfreezeRule;
  /** The people who approve changes of the governed part, and the channel where they are asked; `undefined` if nobody must. */
  readonly policyChanges: { readonly policy: Policy; readonly channel: string } | undefined;
  readonly builtIns: Readonly<Record<BuiltInName, BuiltInUse>>;
}

interface Declared {
  readonly name: string;
  /** In the order of the file; with none, every call needs the default policy. */
  readonly approval: readonly ApprovalRule[];
  /** `undefined` if the manifest leaves it to the tool. */
  readonly effect: Effect | undefined;
  readonly maxAttempts: number;
  /** `undefined` means everywhere, and everybody. */
  readonly allow: {
    readonly channels: readonly string[] | undefined;
    readonly people: readonly string[] | undefined;
    /** User groups; a member may use it like one of the people. */
    readonly groups: readonly string[] | undefined;
  };
  /** In characters. */
  readonly maxOutput: number;
  /** The places that images of its results go to. */
  readonly images: ImagePlace;
  /** The people who answer when the tool asks: `requester`, `approvers`, or the name of a policy; `undefined` leaves it to what is asked. */
  readonly answers: string | undefined;
  /** The entry as it stands in the file, without its rules, with `${NAME}` in place of a secret. */
  readonly asWritten: JsonObject;
  /** The texts for people, by pattern; the first that matches a tool counts. */
  readonly cards: readonly CardDeclaration[];
}

/** The texts for the calls of the tools that a pattern matches. */
export interface CardDeclaration extends TextDeclaration {
  readonly match: string;
  readonly preview?: PreviewDeclaration | undefined;
  readonly undo?: UndoDeclaration | undefined;
  /** `undefined` leaves it to the undo and the effect. */
  readonly reversible?: Reversible | undefined;
}

export interface ModuleDeclaration extends Declared {
  readonly kind: 'module';
  /** A path relative to the manifest, an absolute path, or the name of a package. */
  readonly module: string;
  /** The time limit of a call; `undefined` leaves it to the definition. */
  readonly timeoutMs?: number | undefined;
}

/** A tool of this name that a program gives to the bot. */
export interface CodeDeclaration extends Declared {
  readonly kind: 'code';
  /** The time limit of a call; `undefined` leaves it to the definition. */
  readonly timeoutMs?: number | undefined;
}

/** The people who are asked when a server needs input, and how long it waits for them. */
export interface ElicitationDeclaration {
  readonly ask: 'requester' | 'approvers' | readonly string[];
  readonly expiresMs: number;
}

export interface McpDeclaration extends Declared {
  readonly kind: 'mcp';
  readonly config: McpConfig;
  readonly trustHints: boolean;
  /** Patterns of the tools that have done nothing when they report an error. */
  readonly finalErrors: readonly string[];
  /** Patterns of the tools whose servers get answers that nobody has approved. */
  readonly freeAnswers: readonly string[];
  readonly elicitation: ElicitationDeclaration;
  readonly allowPrivate: readonly string[];
}

export interface HttpDeclaration extends Declared {
  readonly kind: 'http';
  readonly definition: Omit<HttpToolDefinition, 'lookup' | 'redact' | 'proxy' | 'onToken'>;
}

export type ToolDeclaration = ModuleDeclaration | CodeDeclaration | McpDeclaration | HttpDeclaration;

/** Lists the MCP servers of a manifest. */
export function mcpServersOf({ tools }: Pick<Manifest, 'tools'>): McpDeclaration[] {
  return tools.filter((tool) => tool.kind === 'mcp');
}

/** Retention of ended requests and idle threads in Redis. */
export interface RetentionDeclaration {
  readonly requestMs: number;
  readonly threadMs: number;
}

/** The sinks of the audit log. */
export interface AuditDeclaration {
  /** As it is written: relative to the manifest, or absolute. */
  readonly file: string | undefined;
  readonly http: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined;
  readonly retentionMs: number | undefined;
}

/** The page beside Slack: where people sign in, and who sees every request beside the admins. */
export interface PageDeclaration {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The OpenID Connect provider of the company; `undefined` for Slack. */
  readonly issuer: string | undefined;
  /** Ids of people and user groups. */
  readonly auditors: readonly string[];
  /** A new passkey counts after this time. */
  readonly passkeyWaitMs: number;
}

/** A person who decides for an approver until a time; `policies` is `undefined` for all that allow it. */
export interface DeclaredDelegation {
  readonly from: string;
  readonly to: string;
  readonly until: number;
  readonly policies: readonly string[] | undefined;
}

/** A valid manifest: every value checked, every default filled in, every `${NAME}` replaced. */
export interface Manifest {
  /** The text of its file. */
  readonly source: string;
  readonly slack: JsonObject;
  readonly agent: AgentDeclaration;
  readonly policies: ReadonlyMap<string, Policy>;
  readonly limits: readonly Limit[];
  readonly freezes: readonly PlannedFreeze[];
  readonly delegations: readonly DeclaredDelegation[];
  readonly tools: readonly ToolDeclaration[];
  /** Those who may ask through the door, by name. */
  readonly callers: ReadonlyMap<string, CallerDeclaration>;
  readonly audit: AuditDeclaration;
  readonly retention: RetentionDeclaration;
  /** `undefined` if there is no page. */
  readonly page?: PageDeclaration | undefined;
}
