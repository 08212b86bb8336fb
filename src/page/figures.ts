import { wordOf } from '../bot/views/texts/cards.ts';
import { UNDECIDED_RULE } from '../policy/rules.ts';
import type { ApproverLoad, Figure, Figures } from './protocol.ts';
import type { RequestEntry } from './request-index.ts';
import { becauseOf } from './request-view.ts';

const QUICK_SECONDS = 3;
const DAY_MS = 86_400_000;

/** Counts what became of requests, per policy and rule and per approver; with `days`, only of those asked for since. */
export function figuresOf(
  entries: readonly RequestEntry[],
  { days, now = Date.now() }: { readonly days?: number | undefined; readonly now?: number } = {},
): Omit<Figures, 'names'> {
  const since = days === undefined ? 0 : now - days * DAY_MS;
  const counted = entries.filter(({ askedAt, policy }) => policy !== undefined && askedAt >= since);
  const byRule = new Map<string, RequestEntry[]>();
  for (const entry of counted) {
    const key = JSON.stringify([entry.policy, entry.rule]);
    const known = byRule.get(key);
    if (known === undefined) byRule.set(key, [entry]);
    else known.push(entry);
  }
  const rules = [...byRule.values()]
    .map(figureOf)
    .sort((one, other) => other.requests - one.requests || (one.policy < other.policy ? -1 : 1));
  return { days, requests: counted.length, rules, approvers: loadsOf(counted) };
}

function figureOf(entries: readonly RequestEntry[]): Figure {
  const [first] = entries;
  const decided = entries.filter(({ decidedAt }) => decidedAt !== undefined);
  const rejected = entries.filter(({ state }) => state === 'rejected').length;
  const seconds = decided.map(({ askedAt, decidedAt = askedAt }) => (decidedAt - askedAt) / 1000);
  const outcomes = new Map<string, number>();
  for (const { state } of entries) outcomes.set(state, (outcomes.get(state) ?? 0) + 1);
  const isAny = decided.length > 0;
  return {
    policy: first?.policy ?? '',
    rule: first?.rule ?? UNDECIDED_RULE,
    because: becauseOf(entries.at(-1) ?? {}),
    requests: entries.length,
    decided: decided.length,
    approved: decided.length - rejected,
    rejected,
    expired: outcomes.get('expired') ?? 0,
    waiting: outcomes.get('pending') ?? 0,
    ...(isAny && {
      approvalRate: (decided.length - rejected) / decided.length,
      medianSeconds: quantile(seconds, 0.5),
      p90Seconds: quantile(seconds, 0.9),
      quickShare: seconds.filter((each) => each < QUICK_SECONDS).length / decided.length,
    }),
    outcomes: Object.fromEntries([...outcomes].map(([state, count]) => [wordOf(state), count]).sort()),
  };
}

function loadsOf(entries: readonly RequestEntry[]): ApproverLoad[] {
  const loads = new Map<string, { approved: number; rejected: number; seconds: number[] }>();
  for (const { askedAt, votes } of entries)
    for (const { who, decision, at } of votes) {
      if (decision !== 'approve' && decision !== 'reject') continue;
      const load = loads.get(who) ?? { approved: 0, rejected: 0, seconds: [] };
      load[decision === 'approve' ? 'approved' : 'rejected'] += 1;
      load.seconds.push((at - askedAt) / 1000);
      loads.set(who, load);
    }
  return [...loads]
    .map(([who, { seconds, ...counts }]) => ({ who, ...counts, medianSeconds: quantile(seconds, 0.5) }))
    .sort((one, other) => other.approved + other.rejected - one.approved - one.rejected);
}

/** Returns the value below which a share of numbers lies, between two of them where it falls there; `undefined` of none. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (below === undefined || above === undefined) return undefined;
  return below + (above - below) * (place - Math.floor(place));
}
