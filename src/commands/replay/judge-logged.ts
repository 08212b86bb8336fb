import { OWN_RULE } from '../../engine/classify-interrupt.ts';
import type { CallUse, ReadTotals } from '../../policy/limits.ts';
import { DEFAULT_POLICY_NAME, type Policy } from '../../policy/policy.ts';
import type { RuleStep } from '../../policy/rules.ts';
import { EDITED_RULE } from '../../tools/gate.ts';
import { groupInWords, judgeCall } from '../../tools/judge-call.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import type { AskedPolicy, Before, LoggedCall } from './logged-row.ts';

/** The reason why a call cannot be judged: the log or the candidate lacks what the rules need. */
export type Obstacle = 'no-tool' | 'no-arguments' | 'other-arguments';

/** The verdict of the candidate on a call of the log. */
export type After =
  | { readonly outcome: 'run' }
  /** A policy that the candidate does not have means that nobody could approve. */
  | { readonly outcome: 'ask'; readonly policy: Policy | undefined }
  | { readonly outcome: 'deny'; readonly reason: string }
  | { readonly outcome: 'not-judged'; readonly obstacle: Obstacle };

/** A judged call, with what the candidate's rules said and what its limits would count. */
export interface JudgedLogged {
  readonly after: After;
  readonly steps: readonly RuleStep[];
  readonly uses: readonly CountedUse[];
}

/** A counter that a call counts for, of a limit or of first times. */
export interface CountedUse extends Partial<Pick<CallUse, 'amount'>> {
  readonly key: string;
}

/** Judges a call of the log by the rules and limits of the candidate, at the time of its row. Nothing runs. */
export async function judgeLogged(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  { input, at, before, ...call }: LoggedCall,
  readTotals: ReadTotals,
): Promise<JudgedLogged> {
  const schema = toolbox.find(call.tool)?.tool.inputSchema;
  if (schema === undefined) return notJudged('no-tool');
  if (input === undefined) return notJudged('no-arguments');
  if (!schema.parse(input).ok) return notJudged('other-arguments');
  const { tool, requesters, contextAuthors, channel } = call;
  const place = { requesters, contextAuthors, channel };
  const judged = await judgeCall(toolbox, { tool, input, now: new Date(at), readTotals, ...place });
  if (judged === undefined) return notJudged('no-tool');
  const { verdict, steps } = judged.explanation;
  const { isAllowed } = judged;
  const uses = [...judged.uses, ...judged.done];
  const ask = (policy: string): After => ({ outcome: 'ask', policy: toolbox.policy(policy) });
  const rule = before.outcome === 'asked' ? before.rule : '';
  // A tool that pauses by itself has passed its rules, and does so under any manifest.
  if (isAllowed && rule === OWN_RULE) return { after: ask(DEFAULT_POLICY_NAME), steps: [], uses };
  if (verdict.outcome !== 'run')
    return { after: verdict.outcome === 'ask' ? ask(verdict.policy) : verdict, steps, uses };
  // An edited call is asked under the policy of the call before it, even where no rule would.
  const isEdited = before.outcome === 'asked' && rule.startsWith(EDITED_RULE);
  return { after: isEdited ? ask(before.policyName) : { outcome: 'run' }, steps, uses };
}

function notJudged(obstacle: Obstacle): JudgedLogged {
  return { after: { outcome: 'not-judged', obstacle }, steps: [], uses: [] };
}

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
  const is = (change: Change, assumption?: Comparison['assumption']) => ({ change, ...words, assumption });
  if (after.outcome === 'not-judged') return is('not-judged');
  const policy = after.outcome === 'ask' ? after.policy : undefined;
  const isDenied = after.outcome !== 'run' && policy === undefined;
  if (before.outcome === 'denied') return isDenied ? is('same') : is('not-denied', 'denied-by-rule');
  if (isDenied) return is('denied');
  if (policy === undefined) return is(before.outcome === 'ran' ? 'same' : 'not-asked');
  if (before.outcome === 'ran')
    return before.isGranted && policy.grants !== undefined ? is('same', 'grant-holds') : is('asked');
  if (before.policy.quorum !== policy.quorum) return is('approvals');
  if (policy.groups.every(({ from }) => from === undefined))
    return is(words.before === words.after ? 'same' : 'approvers');
  // Those whom the arguments name were looked up in Slack then; the other approvers can be compared.
  const known = new Set(before.policy.principals);
  const isIn = policy.groups.every(({ any }) => any.every((id) => known.has(id)));
  return is(isIn ? 'same' : 'approvers', 'approvers-of-call');
}

function wordsBefore(before: Before): string {
  if (before.outcome === 'ran') return before.isGranted ? 'ran under a grant' : 'ran without approval';
  if (before.outcome === 'denied') return 'denied';
  const { principals: any, quorum, groups = [{ any, quorum }] } = before.policy;
  return approvalWords({ ...before.policy, groups });
}

function wordsAfter(after: After): string {
  if (after.outcome === 'run') return 'runs without approval';
  if (after.outcome === 'deny') return `denied: ${after.reason}`;
  if (after.outcome === 'not-judged') return OBSTACLES[after.obstacle];
  return after.policy === undefined ? 'nobody can approve' : approvalWords(after.policy);
}

const OBSTACLES = {
  'no-tool': 'there is no such tool',
  'no-arguments': 'the log does not have its arguments',
  'other-arguments': 'the tool does not accept these arguments',
};

/** Names approvers with their quorums, in an order of their own, so that the same approvers are the same words. */
function approvalWords({
  groups,
  excluded,
  selfApproval,
}: Pick<Policy, 'excluded' | 'selfApproval'> & {
  readonly groups: Policy['groups'] | NonNullable<AskedPolicy['groups']>;
}): string {
  const all = groups.map((group) => groupInWords({ ...group, any: [...new Set(group.any)].sort() })).sort();
  const not = excluded.length === 0 ? '' : `, not ${[...excluded].sort().join(', ')}`;
  return `approval by ${all.join(' and ')}${not}${selfApproval ? ', requesters too' : ''}`;
}
