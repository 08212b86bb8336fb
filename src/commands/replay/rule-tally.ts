import { medianOf } from '../../bot/home/policy-stats.ts';
import type { RequestStep } from './logged-row.ts';

/** The decisions about the requests of one rule of one tool. */
export interface RuleStats {
  readonly tool: string;
  readonly rule: string;
  readonly policy: string;
  readonly requests: number;
  readonly approved: number;
  readonly rejected: number;
  readonly expired: number;
  /** From the request to the approval or the rejection that decided it; `undefined` if nobody decided any. */
  readonly medianSeconds: number | undefined;
}

interface Tally extends Pick<RuleStats, 'tool' | 'rule' | 'policy'> {
  requests: number;
  approved: number;
  rejected: number;
  expired: number;
  readonly seconds: number[];
}

/** Counts how the requests of each rule were decided, and how fast. */
export class RuleTally {
  readonly #tallies = new Map<string, Tally>();

  /** Counts a request, and returns the function that counts its decision. */
  ask({
    at: askedAt,
    ...named
  }: Pick<RuleStats, 'tool' | 'rule' | 'policy'> & { readonly at: number }): Decide {
    const key = JSON.stringify([named.tool, named.rule, named.policy]);
    const counts = { requests: 0, approved: 0, rejected: 0, expired: 0 };
    const tally = this.#tallies.get(key) ?? { ...named, ...counts, seconds: [] };
    this.#tallies.set(key, tally);
    tally.requests += 1;
    return (step, at) => {
      if (step !== 'approved' && step !== 'rejected' && step !== 'expired') return;
      tally[step] += 1;
      if (step !== 'expired') tally.seconds.push((at - askedAt) / 1000);
    };
  }

  /** Lists the rules, those with the most requests first. */
  list(): RuleStats[] {
    return [...this.#tallies.values()]
      .map(({ seconds, ...counts }) => ({ ...counts, medianSeconds: medianOf(seconds) }))
      .sort((left, right) => right.requests - left.requests || (left.tool < right.tool ? -1 : 1));
  }
}

/** Counts the decision of one request. */
export type Decide = (step: RequestStep, at: number) => void;
