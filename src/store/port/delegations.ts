import type { JsonObject } from '../../agent/json.ts';

/** A delegation: one person decides for another, until a time, where the policy of a request allows it. */
export interface Delegation {
  readonly id: string;
  /** The approver. */
  readonly from: string;
  /** The person who decides for them. */
  readonly to: string;
  readonly startedAt: number;
  readonly until: number;
  readonly reason: string;
}

export interface NewDelegation extends Omit<Delegation, 'startedAt'> {
  readonly evidence: JsonObject;
}

/** The end of a delegation before its time. */
export interface DelegationEnd {
  readonly from: string;
  /** The id of the delegation that the person was shown; `undefined` for the one that holds. */
  readonly shown?: string | undefined;
  /** New for each click. */
  readonly id: string;
  readonly who: string;
  /** Whether the person may end a delegation of others. */
  readonly isAdmin: boolean;
  readonly evidence: JsonObject;
}

/** The table of delegations; every change of it has a higher epoch. One whose time is over may still be in it, and signs nothing. */
export interface DelegationTable {
  readonly epoch: number;
  readonly delegations: readonly Delegation[];
}

/**
 * The delegations, one of each person at a time. Each vote is checked against them in its own step. A change holds in a shard as soon as
 * it is spread to it: after `endDelegation` and `spreadDelegations` nothing is signed under a delegation that has ended.
 */
export interface DelegationStore {
  /** Enters a delegation, in place of an earlier one of the same person. */
  delegate(delegation: NewDelegation): Promise<{ readonly outcome: 'delegated' | 'over' }>;
  endDelegation(end: DelegationEnd): Promise<{ readonly outcome: 'ended' | 'none' | 'not-eligible' }>;
  readDelegations(): Promise<DelegationTable>;
  /** Brings the table to every shard, or to these; one that has it already is left as it is. */
  spreadDelegations(shards?: readonly number[]): Promise<void>;
}
