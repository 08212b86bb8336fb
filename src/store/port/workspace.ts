import type { JsonObject } from '../../agent/json.ts';
import type { Usage } from '../../agent/messages.ts';

/** A grant that a person allows with an approval. The vote that completes the quorum opens it, if the whole quorum allows it. */
export interface GrantOffer {
  readonly id: string;
  readonly uses: number;
  /** How long it holds. */
  readonly forMs: number;
  /** What it is for; the vote adds who allowed it, and the passkeys that they signed with. */
  readonly details: JsonObject;
}

/** A grant that a quorum has signed: further calls of its kind run without asking, so often and so long. */
export interface GrantRecord {
  readonly id: string;
  readonly uses: number;
  readonly used: number;
  readonly expiresAt: number;
  readonly details: JsonObject;
  /** The calls that have taken a use. */
  readonly calls: readonly string[];
  readonly revokedBy: string | undefined;
}

/** A use of a grant that the start of a call takes; the same call again takes no further one. */
export interface GrantUse {
  readonly id: string;
  readonly call: string;
  readonly evidence: JsonObject;
}

/** The result for a call whose grant does not hold any more: it did not start. */
export type Ungranted = {
  readonly outcome: 'ungranted';
  readonly reason: 'unknown' | 'revoked' | 'expired' | 'spent';
};

export type RevokeGrantResult =
  | { readonly outcome: 'revoked'; readonly used: number }
  | { readonly outcome: 'unknown' | 'not-eligible' };

/** The grants. A use is taken by the script that starts its call, and none is after the answer to a revocation. */
export interface GrantStore {
  /** Revokes a grant; `erases` forgets as well what it is for, and who revoked it before. */
  revokeGrant(
    id: string,
    actor: {
      readonly who: string;
      readonly eligible: boolean;
      readonly evidence: JsonObject;
      readonly erases?: boolean;
    },
  ): Promise<RevokeGrantResult>;
  /** Lists the grants, the first to expire first; those that are revoked, spent or over for less than a day are among them. */
  listGrants(): Promise<readonly GrantRecord[]>;
}

/** The scope of a freeze of every tool; any other is the name of a tool, or a caller's id. */
export const ALL_TOOLS = '*';

/** The scope of a freeze of the thinking: no model is called, in any process. No tool can have such a name. */
export const THE_MODEL = '*model';

/** A freeze that holds: nothing of its scope starts, in any process. */
export interface Freeze {
  /** The name of a tool, the id of a caller, `ALL_TOOLS`, or `THE_MODEL`. */
  readonly scope: string;
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly reason: string;
  /** The people who want to end it, where several must. */
  readonly votes: readonly string[];
}

/** The table of all freezes. */
export interface FreezeTable {
  readonly freezes: readonly Freeze[];
}

export interface NewFreeze {
  readonly scope: string;
  /** New for each freeze, so that a repeated call is recognized. */
  readonly id: string;
  readonly who: string;
  readonly reason: string;
  readonly evidence: JsonObject;
}

/** One person who wants to end a freeze. */
export interface UnfreezeVote {
  readonly scope: string;
  /** The id of the freeze that the person was shown; `undefined` for the one that holds. */
  readonly shown?: string | undefined;
  /** New for each click. */
  readonly id: string;
  readonly who: string;
  readonly eligible: boolean;
  readonly quorum: number;
  /** The people of those who voted before who may still. */
  readonly stillEligible: readonly string[];
  readonly reason: string;
  readonly evidence: JsonObject;
}

export type FreezeResult = { readonly outcome: 'frozen' | 'already-frozen' };
export type UnfreezeResult =
  | { readonly outcome: 'unfrozen' | 'not-frozen' | 'not-as-shown' | 'not-eligible' }
  | { readonly outcome: 'voted'; readonly votes: number };

/** The running actions: approved actions by their request, and calls within turns that needed no approval. */
export interface RunningActions {
  readonly requestIds: readonly string[];
  readonly effects: readonly { readonly threadId: string; readonly tool: string }[];
}

/** The approved actions that have to run, those that a freeze held among them, and the requests whose cards are drawn again. */
export interface ShownFreeze {
  readonly toRun: readonly string[];
  readonly redrawn: readonly string[];
}

/** The emergency stop. Every start looks at the freezes in its own step. */
export interface FreezeStore {
  freeze(freeze: NewFreeze): Promise<FreezeResult>;
  unfreeze(vote: UnfreezeVote): Promise<UnfreezeResult>;
  readFreezes(): Promise<FreezeTable>;
  /** Has the cards of open requests show a freeze or its end, and lists what has to run; `change` is the id of either. */
  showFreeze(change: string): Promise<ShownFreeze>;
  listRunning(): Promise<RunningActions>;
}

/** One limit that an action counts against. */
export interface LimitUse {
  /** The limit, and whom or what it counts for. */
  readonly key: string;
  readonly amount: number;
  /** The most in the window; `undefined` counts the action in any case. */
  readonly max: number | undefined;
  readonly windowMs: number;
}

/** One counter of calls that succeeded; `readTotals` reads it like a limit. */
export type DoneCounter = Pick<LimitUse, 'key' | 'windowMs'>;

/** The result for an action that would exceed a limit: it did not start, and counts nothing. */
export type OverLimit = {
  readonly outcome: 'over';
  /** The index of the limit. */
  readonly index: number;
  readonly used: number;
};

/** The used part of a limit in its window. */
export interface LimitTotal {
  readonly count: number;
  readonly sum: number;
}

/**
 * The counters of limits. An action is counted by the script that starts it, with all of its limits, and not any more once it is known
 * that it had no effect. It counts in sixtieths of the window: up to one of them longer, never shorter.
 */
export interface LimitStore {
  readTotals(limits: readonly Pick<LimitUse, 'key' | 'windowMs'>[]): Promise<readonly LimitTotal[]>;
}

/** The tokens of one model call, and for whom they were spent. */
export interface Spending {
  /** The same for every copy of the call. */
  readonly callId: string;
  readonly threadId: string;
  readonly person: string;
  readonly channel: string;
  readonly model: string;
  readonly usage: Usage;
}

/** The tokens of the current day in UTC. */
export interface UsageTotals {
  readonly bot: number;
  readonly person: number;
  readonly thread: number;
}

/** The tokens of a day by person, channel and model. */
export interface UsageRow {
  /** As `2026-11-15`, in UTC. */
  readonly day: string;
  readonly person: string;
  readonly channel: string;
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that the provider had cached. */
  readonly cachedTokens: number;
  /** The part of `outputTokens` that the model spent on reasoning. */
  readonly reasoningTokens: number;
}

/** The tokens that were spent, counted across all processes. */
export interface UsageStore {
  /** Counts one model call, once, and returns the totals of its day. */
  spend(spending: Spending): Promise<UsageTotals>;
  /** Returns the totals of the current day. */
  usageOf(threadId: string, person: string): Promise<UsageTotals>;
  /** Counts a person's usage under another name. */
  renameUsage(person: string, name: string): Promise<void>;
  /** Lists the usage of the last days, the latest day first. */
  listUsage(days: number): Promise<readonly UsageRow[]>;
}

/** The updates of messages in the current window, of all processes. */
export interface UpdateCounts {
  readonly updates: number;
  /** The part of them that was asked for progress. */
  readonly progress: number;
}

/** Counts updates of messages across all processes. */
export interface UpdateCounter {
  /** Counts one update, and returns the counts with it. */
  add(kind: keyof UpdateCounts): Promise<UpdateCounts>;
}
