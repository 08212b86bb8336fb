import { fillGroups, type GroupMember } from '../policy/policy.ts';
import type { RequestRecord } from '../store/port/request-record.ts';

/** Lists the people whose approval fills a place, for each group of a request; with one more approval, if it is given. */
export function approvalsByGroup(
  { policy, votes }: RequestRecord,
  more: readonly GroupMember[] = [],
): readonly (readonly string[])[] {
  const approvals = votes.filter(({ decision }) => decision === 'approve');
  return fillGroups(
    (policy.groups ?? []).map(({ quorum }) => quorum),
    [...approvals.map(({ who, groups = [] }) => ({ who, groups })), ...more],
  );
}

/** Counts the approvals of a request that count: where its policy has groups, those that fill a place. */
export function countedApprovals(request: RequestRecord): number {
  return request.policy.groups === undefined ? request.approvals : approvalsByGroup(request).flat().length;
}

/** Lists the rejections, and the approvals with a comment, but for the one that ended the request: its end says that. */
export function wordsInVotes({ state, by: ended, votes }: RequestRecord): RequestRecord['votes'] {
  return votes.filter(({ decision, who, reason }) => {
    const isEnd = state === 'rejected' && decision === 'reject' && who === ended;
    return !isEnd && (decision === 'reject' || reason !== undefined);
  });
}
