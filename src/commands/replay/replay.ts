import { OWN_RULE } from '../../engine/classify-interrupt.ts';
import { profileAskedFor, usesGroups } from '../../policy/condition.ts';
import type { CallUse, ReadTotals } from '../../policy/limits.ts';
import { DEFAULT_POLICY_NAME, type Policy } from '../../policy/policy.ts';
import type { AuditRow } from '../../store/port/audit.ts';
import { EDITED_RULE } from '../../tools/gate.ts';
import { groupInWords, judgeCall } from '../../tools/judge-call.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { type Before, isCall, type LoggedCall, parseRow } from './logged-row.ts';

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
type Change = keyof typeof CHANGES;

/** Calls of one tool with the same ends then and now. */
interface CallGroup {
  readonly change: Change;
  readonly tool: string;
  readonly before: string;
  readonly after: string;
  readonly calls: number;
  /** The first of them: when, and its request or thread. */
  readonly first: { readonly at: number; readonly subject: string };
}

/** The result of a replay. */
export interface ReplayResult {
  readonly calls: number;
  readonly changes: Readonly<Record<Change, number>>;
  readonly groups: readonly CallGroup[];
  /** The number of rows that are erased or cannot be read. */
  readonly unreadable: number;
}

/** The verdict of the candidate on a call; a policy that it does not have means that nobody could approve. */
type After =
  | { readonly outcome: 'run' }
  | { readonly outcome: 'ask'; readonly policy: Policy | undefined }
  | { readonly outcome: 'deny'; readonly reason: string }
  | { readonly outcome: 'not-judged'; readonly reason: string };

/** A counter that a call counts for, of a limit or of first times. */
type CountedUse = { readonly key: string } & Partial<Pick<CallUse, 'amount'>>;

interface Judged {
  readonly after: After;
  readonly uses: readonly CountedUse[];
}

const DAY_MS = 86_400_000;

/**
 * Judges the calls of the audit log by a candidate manifest, row by row in the order of time. It keeps open requests, what limits count,
 * and totals: its memory does not grow with the rows. It runs no tool and writes nothing.
 */
export class Replay {
  readonly #toolbox: OpenToolbox;
  readonly #since: number;
  readonly #countFrom: number;
  readonly #counts = new LimitCounts();
  readonly #open = new Map<string, { readonly uses: Judged['uses']; readonly identity: string }>();
  /** Calls that paused while they ran; the next start of such a call is no new call. */
  readonly #paused = new Set<string>();
  readonly #groups = new Map<string, CallGroup>();
  #unreadable = 0;

  /** `since` is the time of the first row to report; the windows of limits reach further back. */
  constructor(toolbox: OpenToolbox, since = Number.NEGATIVE_INFINITY) {
    this.#toolbox = toolbox;
    this.#since = since;
    const { limits, agent } = toolbox.manifest;
    this.#countFrom = since - Math.max(agent.firstDays * DAY_MS, ...limits.map(({ windowMs }) => windowMs));
  }

  /** Adds the next row. */
  async add(row: AuditRow): Promise<void> {
    const logged = row.at < this.#countFrom ? undefined : parseRow(row);
    if (logged === undefined) return;
    if (logged.kind === 'unreadable') return this.addErased(row);
    if (logged.kind === 'call') return this.#judge(logged.call);
    const { step, action } = logged;
    const request = this.#open.get(action);
    if (step === 'started') return this.#counts.add(action, request?.uses ?? [], row.at);
    const identity = request?.identity ?? logged.identity;
    if (step === 'undone') this.#counts.remove(action);
    if (step === 'paused' && identity !== undefined) this.#paused.add(identity);
    this.#open.delete(action);
  }

  /** Adds a row whose contents were erased. */
  addErased({ event, at }: Pick<AuditRow, 'event' | 'at'>): void {
    if (isCall(event) && at >= this.#since) this.#unreadable += 1;
  }

  async #judge(call: LoggedCall): Promise<void> {
    const { at, subject, tool, before, action, identity } = call;
    if (before.outcome === 'ran' && this.#paused.delete(identity)) return;
    const { after, uses } = await judgeLogged(this.#toolbox, call, this.#counts.at(at));
    if (before.outcome === 'ran') this.#counts.add(action, uses, at);
    if (before.outcome === 'asked') this.#open.set(action, { uses, identity });
    if (at < this.#since) return;
    const compared = { change: compare(before, after), tool, ...wordsOf(before, after) };
    const key = JSON.stringify(compared);
    const { calls, first } = this.#groups.get(key) ?? { calls: 0, first: { at, subject } };
    this.#groups.set(key, { ...compared, calls: calls + 1, first });
  }

  /** Returns what was found in all rows so far. */
  result(): ReplayResult {
    const order = Object.keys(CHANGES);
    const groups = [...this.#groups.values()].sort(
      (left, right) => order.indexOf(left.change) - order.indexOf(right.change) || right.calls - left.calls,
    );
    const changes = {
      'not-asked': 0,
      'not-denied': 0,
      approvals: 0,
      approvers: 0,
      asked: 0,
      denied: 0,
      'not-judged': 0,
      same: 0,
    };
    for (const { change, calls } of groups) changes[change] += calls;
    const calls = groups.reduce((sum, group) => sum + group.calls, 0);
    return { calls, changes, groups, unreadable: this.#unreadable };
  }
}

/** Judges a call of the log by the rules and limits of the candidate, at the time of its row. Nothing runs. */
async function judgeLogged(
  toolbox: OpenToolbox,
  { tool, input, at, before, requesters, contextAuthors, channel }: LoggedCall,
  readTotals: ReadTotals,
): Promise<Judged> {
  const notJudged = (reason: string): Judged => ({ after: { outcome: 'not-judged', reason }, uses: [] });
  const schema = toolbox.find(tool)?.tool.inputSchema;
  if (schema === undefined) return notJudged('there is no such tool');
  if (input === undefined) return notJudged('the log does not have its arguments');
  if (!schema.parse(input).ok) return notJudged('the tool does not accept these arguments');
  const place = { requesters, contextAuthors, channel };
  const judged = await judgeCall(toolbox, { tool, input, now: new Date(at), readTotals, ...place });
  if (judged === undefined) return notJudged('there is no such tool');
  const { isAllowed, explanation } = judged;
  const { verdict, steps } = explanation;
  const isUnknown = steps.some(
    ({ result, rule: { when = '' } }) =>
      result === 'not-evaluated' && (usesGroups(when) || profileAskedFor(when).length > 0),
  );
  if (isUnknown) return notJudged('the log does not have the groups, addresses and names of people');
  const uses = [...(before.outcome === 'asked' ? judged.approvedUses : judged.uses), ...judged.done];
  const asks = (policy: string): Judged => ({
    after: { outcome: 'ask', policy: toolbox.policy(policy) },
    uses,
  });
  if (before.outcome === 'asked') {
    // A tool that pauses by itself has passed its rules, and does so under any manifest.
    if (isAllowed && before.rule === OWN_RULE) return asks(DEFAULT_POLICY_NAME);
    // An edited call is asked under the policy of the call before it, even where no rule would.
    if (verdict.outcome === 'run' && before.rule.startsWith(EDITED_RULE)) return asks(before.policyName);
  }
  return verdict.outcome === 'ask' ? asks(verdict.policy) : { after: verdict, uses };
}

/** Compares what happened to a call with what the candidate would do. */
function compare(before: Before, after: After): Change {
  if (after.outcome === 'not-judged') return 'not-judged';
  const policy = after.outcome === 'ask' ? after.policy : undefined;
  const isDenied = after.outcome !== 'run' && policy === undefined;
  if (before.outcome === 'denied') return isDenied ? 'same' : 'not-denied';
  if (isDenied) return 'denied';
  if (policy === undefined) return before.outcome === 'ran' ? 'same' : 'not-asked';
  // A grant that was given is taken to be given under the candidate too, if its policy has grants.
  if (before.outcome === 'ran') return before.isGranted && policy.grants !== undefined ? 'same' : 'asked';
  if (before.policy.quorum !== policy.quorum) return 'approvals';
  if (policy.groups.every(({ from }) => from === undefined) && policy.excludedFrom === undefined) {
    const words = wordsOf(before, after);
    return words.before === words.after ? 'same' : 'approvers';
  }
  // Those whom the arguments name were looked up in Slack then; the other approvers can be compared.
  const known = new Set(before.policy.principals);
  return policy.groups.every(({ any }) => any.every((id) => known.has(id))) ? 'same' : 'approvers';
}

/** Describes what happened and what the candidate would do, in words that are the same for calls with the same ends. */
function wordsOf(before: Before, after: After): { readonly before: string; readonly after: string } {
  return { before: wordsBefore(before), after: wordsAfter(after) };
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
  if (after.outcome === 'not-judged') return after.reason;
  return after.policy === undefined ? 'nobody can approve' : approvalWords(after.policy);
}

type Approvers = Pick<Policy, 'excluded' | 'selfApproval'> & {
  readonly groups: readonly Parameters<typeof groupInWords>[0][];
};

/** Names approvers with their quorums, in an order of their own, so that the same approvers are the same words. */
function approvalWords({ groups, excluded, selfApproval }: Approvers): string {
  const all = groups.map((group) => groupInWords({ ...group, any: [...new Set(group.any)].sort() })).sort();
  const not = excluded.length === 0 ? '' : `, not ${[...excluded].sort().join(', ')}`;
  return `approval by ${all.join(' and ')}${not}${selfApproval ? ', requesters too' : ''}`;
}

type Counted = Map<string, { readonly at: number; readonly amount: number }>;

/** Counts the calls that ran then against the candidate's limits, by the time of their rows. */
class LimitCounts {
  readonly #byKey = new Map<string, Counted>();

  /** Counts a call at a time; the same call again only counts later. */
  add(action: string, uses: readonly CountedUse[], at: number): void {
    for (const { key, amount = 0 } of uses) {
      const counted: Counted = this.#byKey.get(key) ?? new Map();
      // Moved to the end, so that the oldest is always the first.
      counted.delete(action);
      this.#byKey.set(key, counted.set(action, { at, amount }));
    }
  }

  /** Gives back what a call counted that had no effect. */
  remove(action: string): void {
    for (const counted of this.#byKey.values()) counted.delete(action);
  }

  /** Returns a reader of the totals at a time. */
  at(now: number): ReadTotals {
    return async (limits) =>
      limits.map(({ key, windowMs }) => {
        const counted: Counted = this.#byKey.get(key) ?? new Map();
        for (const [action, { at }] of counted) {
          if (at > now - windowMs) break;
          counted.delete(action);
        }
        return {
          count: counted.size,
          sum: [...counted.values()].reduce((sum, { amount }) => sum + amount, 0),
        };
      });
  }
}
