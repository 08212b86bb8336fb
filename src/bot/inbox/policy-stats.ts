import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import type { AuditRow, AuditStore } from '../../store/port/audit.ts';
import { callerNamed } from '../../tools/callers.ts';
import type { DecisionStats } from '../views/texts/home.ts';

interface Tally {
  requests: number;
  approved: number;
  rejected: number;
  expired: number;
  readonly seconds: number[];
}

const Asked = z.object({
  policy_name: z.string(),
  requesters: z.array(z.string()).optional().catch(undefined),
});

/**
 * Counts the decisions of each policy, and then of what each caller asked for, in rows of the audit log; the rows of one request must be
 * in order.
 */
export async function collectStats(rows: AsyncIterable<AuditRow>): Promise<DecisionStats[]> {
  const open = new Map<string, { readonly tallies: readonly Tally[]; readonly at: number }>();
  const policies = new Map<string, Tally>();
  const callers = new Map<string, Tally>();
  for await (const { event, subject, at, body } of rows) {
    if (event === 'asked') {
      const asked = Asked.safeParse(tryParseJson(body)).data;
      if (asked === undefined) continue;
      const asking = (asked.requesters ?? []).flatMap((id) => callerNamed(id) ?? []);
      const tallies = [
        tallyOf(policies, asked.policy_name),
        ...asking.map((caller) => tallyOf(callers, caller)),
      ];
      open.set(subject, { tallies, at });
      for (const tally of tallies) tally.requests += 1;
      continue;
    }
    const request = open.get(subject);
    if (request === undefined || !(event === 'approved' || event === 'rejected' || event === 'expired'))
      continue;
    open.delete(subject);
    for (const tally of request.tallies) {
      tally[event] += 1;
      if (event !== 'expired') tally.seconds.push((at - request.at) / 1000);
    }
  }
  return [
    ...byRequests(policies).map(([policy, tally]) => ({ policy, ...statsOf(tally) })),
    ...byRequests(callers).map(([caller, tally]) => ({ caller, ...statsOf(tally) })),
  ];
}

function byRequests(tallies: ReadonlyMap<string, Tally>): [string, Tally][] {
  return [...tallies].sort(
    ([name, left], [other, right]) => right.requests - left.requests || (name < other ? -1 : 1),
  );
}

function statsOf({ seconds, ...counts }: Tally) {
  return {
    ...counts,
    approvalRate: seconds.length === 0 ? undefined : counts.approved / seconds.length,
    medianSeconds: medianOf(seconds),
  };
}

function tallyOf(tallies: Map<string, Tally>, name: string): Tally {
  const known = tallies.get(name) ?? { requests: 0, approved: 0, rejected: 0, expired: 0, seconds: [] };
  tallies.set(name, known);
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

/** Counts the recent decisions. */
export async function recentStats(
  store: Pick<AuditStore, 'auditEnds' | 'exportAudit'>,
): Promise<DecisionStats[]> {
  const { head } = await store.auditEnds();
  return collectStats(store.exportAudit(Math.max(0, head.seq - RECENT_ROWS)));
}
