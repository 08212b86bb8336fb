import type { Policy } from '../../tools/gate/policy.ts';
import type { After } from './judge-logged.ts';
import type { AskedPolicy, Before } from './logged-row.ts';

/** Every kind of change from what happened to what the candidate would do, the most notable first. */
export const CHANGES = {
  'not-asked': 'no longer asked',
  'not-denied': 'no longer denied',
  approvals: 'other number of approvals',
  approvers: 'other approvers',
  asked: 'asked, was not before',
  denied: 'denied, was not before',
  'not-judged': 'cannot be judged',
  same: 'no change',
} as const;
export type Change = keyof typeof CHANGES;

/** The comparison of a call, in words that are the same for calls with the same ends. */
export interface Comparison {
  readonly change: Change;
  readonly before: string;
  readonly after: string;
  /** Assumptions of the comparison, where the log does not say it. */
  readonly assumption?: 'grant-holds' | 'approvers-of-call' | 'denied-by-rule' | undefined;
}

/** Compares what happened to a call with what the candidate would do. */
export function compare(before: Before, after: After): Comparison {
  const words = { before: wordsBefore(before), after: wordsAfter(after) };
  if (after.outcome === 'not-judged') return { change: 'not-judged', ...words };
  const isDenied = after.outcome === 'deny' || (after.outcome === 'ask' && after.policy === undefined);
  if (before.outcome === 'denied')
    return isDenied
      ? { change: 'same', ...words }
      : { change: 'not-denied', ...words, assumption: 'denied-by-rule' };
  if (isDenied) return { change: 'denied', ...words };
  if (after.outcome === 'run') return { change: before.outcome === 'ran' ? 'same' : 'not-asked', ...words };
  const { policy } = after;
  if (before.outcome === 'ran') {
    const mayHold = before.isGranted && policy?.grants !== undefined;
    return mayHold ? { change: 'same', ...words, assumption: 'grant-holds' } : { change: 'asked', ...words };
  }
  return policy === undefined
    ? { change: 'denied', ...words }
    : compareApproval(before.policy, policy, words);
}

function compareApproval(
  before: AskedPolicy,
  after: Policy,
  words: Pick<Comparison, 'before' | 'after'>,
): Comparison {
  if (before.quorum !== after.quorum) return { change: 'approvals', ...words };
  const isOfCall = after.groups.some(({ from }) => from !== undefined);
  if (!isOfCall) return { change: words.before === words.after ? 'same' : 'approvers', ...words };
  // Those whom the arguments name were looked up in Slack then; the other approvers can be compared.
  const known = new Set(before.principals);
  const isIn = after.groups.every(({ any }) => any.every((id) => known.has(id)));
  return { change: isIn ? 'same' : 'approvers', ...words, assumption: 'approvers-of-call' };
}

function wordsBefore(before: Before): string {
  if (before.outcome === 'ran') return before.isGranted ? 'ran under a grant' : 'ran without approval';
  if (before.outcome === 'denied') return 'denied';
  const {
    principals,
    quorum,
    groups = [{ any: principals, quorum }],
    excluded,
    selfApproval,
  } = before.policy;
  return approvalWords(groups, excluded, selfApproval);
}

function wordsAfter(after: After): string {
  switch (after.outcome) {
    case 'run':
      return 'runs without approval';
    case 'deny':
      return `denied: ${after.reason}`;
    case 'not-judged':
      return OBSTACLES[after.obstacle];
    case 'ask': {
      if (after.policy === undefined) return 'nobody can approve';
      const { groups, excluded, selfApproval } = after.policy;
      const people = groups.map(({ any, from, quorum }) => ({
        any: [...any, ...(from === undefined ? [] : [`the person of ${from}`])],
        quorum,
      }));
      return approvalWords(people, excluded, selfApproval);
    }
  }
}

const OBSTACLES = {
  'no-tool': 'there is no such tool',
  'no-arguments': 'the log does not have its arguments',
  'other-arguments': 'the tool does not accept these arguments',
};

/** Names approvers with their quorums, in an order of their own, so that the same approvers are the same words. */
function approvalWords(
  groups: readonly { readonly any: readonly string[]; readonly quorum: number }[],
  excluded: readonly string[],
  selfApproval: boolean,
): string {
  const all = groups.map(({ any, quorum }) => `${quorum} of ${[...new Set(any)].sort().join(', ')}`).sort();
  const not = excluded.length === 0 ? '' : `, not ${[...excluded].sort().join(', ')}`;
  return `approval by ${all.join(' and ')}${not}${selfApproval ? ', requesters too' : ''}`;
}
