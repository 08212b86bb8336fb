import type { JsonObject } from '../../agent/json.ts';

/** The scope of a freeze of every tool; any other is the name of a tool. */
export const ALL_TOOLS = '*';

/** A freeze that holds: nothing of its scope starts, in any process. */
export interface Freeze {
  /** The name of a tool, or `ALL_TOOLS`. */
  readonly scope: string;
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly reason: string;
  /** The people who want to end it, where several must. */
  readonly votes: readonly string[];
}

/** The table of all freezes; every change of it has a higher epoch. */
export interface FreezeTable {
  readonly epoch: number;
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

/** The result of a spread: the approved actions that are due, those that a freeze held among them, and the requests whose cards are drawn anew. */
export interface SpreadResult {
  readonly held: readonly string[];
  readonly redrawn: readonly string[];
}

/** The emergency stop. A freeze holds in a shard as soon as it is spread to it; `freeze` alone only enters it in the table. */
export interface FreezeStore {
  freeze(freeze: NewFreeze): Promise<FreezeResult>;
  unfreeze(vote: UnfreezeVote): Promise<UnfreezeResult>;
  readFreezes(): Promise<FreezeTable>;
  /** Brings the table to every shard, or to these; one that has it already is left as it is. */
  spreadFreezes(shards?: readonly number[]): Promise<SpreadResult>;
  listRunning(): Promise<RunningActions>;
}
