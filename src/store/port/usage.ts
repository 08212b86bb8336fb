import type { Usage } from '../../agent/messages.ts';

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
