import type { ApprovalRules, ApprovalVerdict, JudgedRules } from './approval-rules.ts';
import type { ConditionInput } from './condition.ts';
import type { Policy } from './policy.ts';

export type PolicyOf = (name: string) => Policy | undefined;

/** A call with everyone whose words led to it. */
export interface JudgedCall extends Omit<ConditionInput, 'requester'> {
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
}

/** The verdict on a call, the person for whom it is that strict, and what each rule said. */
export interface Explanation extends JudgedRules {
  readonly requester: string;
}

/**
 * Applies the rules once for each person, as if that person were the requester, and returns the strictest verdict: a call is denied if
 * it is for anyone, and approval is needed if it is for anyone. Of several policies the one that is harder to satisfy wins: the higher quorum, then more groups, then the one that forbids
 * self-approval, then `separation: thread`. Between equals the first person's policy wins, and requesters come first.
 */
export function judgeStrictly(rules: ApprovalRules, call: JudgedCall, policyOf: PolicyOf): Explanation {
  // Everyone is judged at the same moment.
  const timed = { ...call, now: call.now ?? new Date() };
  const people = [...call.requesters, ...call.contextAuthors];
  const judged = (people.length === 0 ? [''] : people).map((requester) => ({
    requester,
    ...rules({ ...timed, requester }),
  }));
  return judged.reduce((strictest, other) =>
    compareStrictness(other.verdict, strictest.verdict, policyOf) > 0 ? other : strictest,
  );
}

/** Returns only the verdict. */
export function strictestVerdict(
  rules: ApprovalRules,
  call: JudgedCall,
  policyOf: PolicyOf,
): ApprovalVerdict {
  return judgeStrictly(rules, call, policyOf).verdict;
}

/** Returns a positive number if the first verdict is stricter, and 0 if neither is. */
export function compareStrictness(left: ApprovalVerdict, right: ApprovalVerdict, policyOf: PolicyOf): number {
  const [one, other] = [rank(left, policyOf), rank(right, policyOf)];
  const index = one.findIndex((value, at) => value !== other[at]);
  return (one[index] ?? 0) - (other[index] ?? 0);
}

/** A policy that is gone is the strictest, because nobody can approve under it. */
function rank(verdict: ApprovalVerdict, policyOf: PolicyOf): readonly number[] {
  if (verdict.outcome === 'run') return [0];
  if (verdict.outcome === 'deny') return [2];
  const policy = policyOf(verdict.policy);
  if (policy === undefined) return [1, Number.POSITIVE_INFINITY];
  const { quorum, groups, selfApproval, separation } = policy;
  return [1, quorum, groups.length, selfApproval ? 0 : 1, separation === 'thread' ? 1 : 0];
}
