import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import type { AuditRow, AuditStore } from '../../store/port/audit.ts';
import type { PolicyStats } from '../views/texts/home.ts';

interface Tally {
  requests: number;
  approved: number;
  rejected: number;
  expired: number;
  readonly seconds: number[];
}

const Asked = z.object({ policy_name: z.string() });

/** Counts the decisions of each policy in rows of the audit log; the rows of one request must be in order. */
export async function collectStats(rows: AsyncIterable<AuditRow>): Promise<PolicyStats[]> {
  const open = new Map<string, { readonly policy: string; readonly at: number }>();
  const tallies = new Map<string, Tally>();
  for await (const { event, subject, at, body } of rows) {
    if (event === 'asked') {
      const policy = Asked.safeParse(tryParseJson(body)).data?.policy_name;
      if (policy === undefined) continue;
      open.set(subject, { policy, at });
      tallyOf(tallies, policy).requests += 1;
      continue;
    }
    const request = open.get(subject);
    if (request === undefined || !(event === 'approved' || event === 'rejected' || event === 'expired'))
      continue;
    open.delete(subject);
    const tally = tallyOf(tallies, request.policy);
    tally[event] += 1;
    if (event !== 'expired') tally.seconds.push((at - request.at) / 1000);
  }
  return [...tallies]
    .map(([policy, { seconds, ...counts }]) => ({
      policy,
      ...counts,
      approvalRate: seconds.length === 0 ? undefined : counts.approved / seconds.length,
      medianSeconds: medianOf(seconds),
    }))
    .sort((left, right) => right.requests - left.requests || (left.policy < right.policy ? -1 : 1));
}

function tallyOf(tallies: Map<string, Tally>, policy: string): Tally {
  const known = tallies.get(policy) ?? { requests: 0, approved: 0, rejected: 0, expired: 0, seconds: [] };
  tallies.set(policy, known);
  return known;
}

/** Returns the median of numbers; `undefined` if there are none. */
export function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  const next = sorted[Math.ceil((sorted.length - 1) / 2)];
  return middle === undefined || next === undefined ? undefined : (middle + next) / 2;
}

/** The rows that App Home reads; `countersign stats` reads all. */
const RECENT_ROWS = 2_000;

/** Counts the recent decisions of each policy. */
export async function recentStats(
  store: Pick<AuditStore, 'auditEnds' | 'exportAudit'>,
): Promise<PolicyStats[]> {
  const { head } = await store.auditEnds();
  return collectStats(store.exportAudit(Math.max(0, head.seq - RECENT_ROWS)));
}
