import { z } from 'zod';
import { compileExpression, type JudgedCall, type LimitTotals } from './condition.ts';
import { covers, findPolicy, type PolicyOf, policiesNamed } from './policy.ts';
import { type ApprovalVerdict, matchesGlob, strictestVerdict } from './rules.ts';
import { startOfPeriod } from './time.ts';

/** A period of the calendar in a time zone, which begins at midnight; a week begins on Monday. */
export const CalendarPeriod = z.object({ unit: z.enum(['day', 'week', 'month']), timeZone: z.string() });
export type CalendarPeriod = Readonly<z.infer<typeof CalendarPeriod>>;

/** A limit on what calls of a tool may do within a window. */
export interface Limit {
  /** Names the limit in conditions: `sum("refund_order")`. */
  readonly name: string;
  /** The tools that it counts. */
  readonly match: string;
  /** A CEL condition on the calls that it counts; without it, all count. One that cannot be evaluated counts. */
  readonly when?: string | undefined;
  /** A CEL expression that gives the amount of a call; without it, calls are counted. */
  readonly sum: string | undefined;
  readonly per: 'requester' | 'channel' | 'tool';
  readonly windowMs: number;
  /** The period in which it counts, in place of a time that moves on with the clock; `windowMs` is longer than any such period. */
  readonly calendar?: CalendarPeriod | undefined;
  readonly max: number;
  /** The maximum as the cards of the tool show such an amount: $90.00 for 9000 cents. */
  readonly shownMax?: string | undefined;
  /** The policy that must approve what is over the limit; `undefined` denies it. */
  readonly policy: string | undefined;
}

/** The amount that a call counts for one limit; `undefined` as the amount means that it cannot be told, and then it is over. */
export interface CallUse {
  readonly limit: Limit;
  readonly key: string;
  readonly amount: number | undefined;
}

/** Reads how much of limits is used. */
export type ReadTotals = (
  limits: readonly { readonly key: string; readonly windowMs: number }[],
) => Promise<readonly { readonly count: number; readonly sum: number }[]>;

const Amount = z.number().min(0);
/** The use of limits that a judgement assumes, by their names: the sum or the number of calls, or both. */
export const UsedLimits = z.record(
  z.string(),
  z.union([Amount, z.strictObject({ count: Amount, sum: Amount })]),
);
export type UsedLimits = Readonly<z.infer<typeof UsedLimits>>;

/** Makes totals that are given, the same for everyone; of a limit that is not given nothing is used. */
export function totalsGiven(limits: readonly Limit[], used: UsedLimits = {}): ReadTotals {
  return async (read) =>
    read.map(({ key }) => {
      const [name = ''] = key.split(/[@|]/);
      const given = Object.hasOwn(used, name) ? (used[name] ?? 0) : 0;
      if (typeof given === 'object') return given;
      const isSum = limits.some((limit) => limit.name === name && limit.sum !== undefined);
      // A sum alone is that of one call.
      return { count: isSum ? Math.min(given, 1) : given, sum: given };
    });
}

/** Lists what a call counts, for each limit of its tool and each person or place that the limit is for. */
export function usesOf(limits: readonly Limit[], call: JudgedCall): CallUse[] {
  return limits
    .filter(({ match }) => matchesGlob(match, call.tool))
    .flatMap((limit) => {
      if (limit.when !== undefined && evaluated(limit.when, call) === false) return [];
      const amount = limit.sum === undefined ? 1 : amountOf(limit.sum, call);
      // A period has a counter of its own, so nothing of another one counts.
      const period = limit.calendar && `@${startOfPeriod(limit.calendar, call.now ?? new Date())}`;
      const subjects =
        limit.per === 'requester' ? call.requesters : [limit.per === 'channel' ? call.channel : call.tool];
      return [...new Set(subjects)].map((subject) => ({
        limit,
        key: `${limit.name}${period ?? ''}|${limit.per}|${subject}`,
        amount,
      }));
    });
}

/** Tells whether a counter counts what calls of one person have used of a limit. */
export function isLimitOf(key: string, person: string): boolean {
  return key.endsWith(`|requester|${person}`);
}

const compiled = new Map<string, ReturnType<typeof compileExpression>>();

/** Evaluates an expression of a limit for the first requester; `undefined` if it cannot be evaluated. */
function evaluated(expression: string, { requesters, ...call }: JudgedCall): unknown {
  const evaluate = compiled.get(expression) ?? compileExpression(expression);
  compiled.set(expression, evaluate);
  const result = evaluate({ approved: false, ...call, requesters, requester: requesters[0] ?? '' });
  return 'error' in result ? undefined : result.value;
}

/** Evaluates the amount of a call; a negative one is none, because it would give others room. */
function amountOf(expression: string, call: JudgedCall): number | undefined {
  const value = evaluated(expression, call);
  const amount = typeof value === 'bigint' ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

/**
 * Judges a call by its rules, which see what its limits have counted, and by what the limits have left. A call over a limit needs what its
 * rules ask and what the limit asks. Without `readTotals` there are only the rules.
 */
export async function judgeWithLimits<Judged extends { readonly verdict: ApprovalVerdict }>(
  { limits, call, readTotals, policyOf }: LimitedJudgement,
  judgeRules: (totals: LimitTotals | undefined) => Promise<Judged> | Judged,
): Promise<Judged & { readonly uses?: readonly CallUse[] }> {
  if (readTotals === undefined) return judgeRules(undefined);
  const judged = await judgeRules(await totalsFor(usesOf(limits, call), readTotals));
  // What the rules ask is approved when it starts.
  const uses = usesOf(limits, { ...call, approved: judged.verdict.outcome === 'ask' });
  const over = await exceededBy(uses, readTotals);
  return { ...judged, uses, verdict: strictestVerdict(judged.verdict, over.map(overVerdict), policyOf) };
}

/** A call, the limits of its tool and how much of them is used. */
export interface LimitedJudgement {
  readonly limits: readonly Limit[];
  readonly call: JudgedCall;
  readonly readTotals: ReadTotals | undefined;
  readonly policyOf: PolicyOf;
}

/** Lists the limits that a call would exceed. */
async function exceededBy(uses: readonly CallUse[], readTotals: ReadTotals): Promise<readonly Limit[]> {
  const totals = await readTotals(uses.map(({ key, limit }) => ({ key, windowMs: limit.windowMs })));
  return uses
    .filter(({ limit, amount }, index) => {
      const total = totals[index] ?? { sum: 0 };
      return amount === undefined || total.sum + amount > limit.max;
    })
    .map(({ limit }) => limit);
}

/** The calls of a row that fit, and the limit that the next one would exceed. */
export interface FittingCalls {
  readonly calls: number;
  readonly limit: Limit;
}

/** Counts how many calls in a row fit what their limits have left now, each counted before the next; `undefined` if all do. */
export async function fittingCalls(
  row: readonly (readonly CallUse[])[],
  readTotals: ReadTotals,
): Promise<FittingCalls | undefined> {
  const uses = row.flat();
  const totals = await readTotals(uses.map(({ key, limit }) => ({ key, windowMs: limit.windowMs })));
  const used = new Map(uses.map(({ key }, index) => [key, totals[index]?.sum ?? 0]));
  for (const [calls, each] of row.entries()) {
    for (const { key, limit, amount = 0 } of each) {
      const sum = (used.get(key) ?? 0) + amount;
      if (sum > limit.max) return { calls, limit };
      used.set(key, sum);
    }
  }
  return undefined;
}

/** Tells whether a call that was approved under a policy may exceed a limit: under the limit's own policy, or one that is as strict. */
export function mayExceed(limit: Limit, approvedUnder: string | undefined, policyOf: PolicyOf): boolean {
  if (limit.policy === undefined || approvedUnder === undefined) return false;
  if (policiesNamed(approvedUnder).includes(limit.policy)) return true;
  const [approved, needed] = [findPolicy(policyOf, approvedUnder), policyOf(limit.policy)];
  return approved !== undefined && needed !== undefined && covers(approved, needed);
}

/** Returns the verdict on a call that is over a limit; it needs what its own rules ask as well. */
export function overVerdict(limit: Limit): ApprovalVerdict {
  const { name, sum, per, max, policy } = limit;
  const rule = `limit ${name}: ${sum === undefined ? 'calls' : `sum of ${sum}`} over ${max} per ${per}`;
  if (policy !== undefined) return { outcome: 'ask', rule, policy, overLimit: true };
  return { outcome: 'deny', rule, reason: limitInWords(limit) };
}

/** Tells whether a rule on record is that of a limit. */
export function isOverLimit({ rule }: Pick<ApprovalVerdict, 'rule'>): boolean {
  return rule.startsWith('limit ');
}

/** The parts of a limit that people read. */
export type LimitSize = Pick<Limit, 'sum' | 'per' | 'max' | 'shownMax' | 'windowMs' | 'calendar'>;

/** Says which limit a call is over, however much of it others have used. */
export function limitInWords(limit: LimitSize): string {
  return `It would exceed the limit of ${limitSizeInWords(limit)}`;
}

/** Says how much a limit allows. */
export function limitSizeInWords({ sum, per, max, shownMax, windowMs, calendar }: LimitSize): string {
  const whose = { requester: 'per person', channel: 'per channel', tool: 'for everyone together' }[per];
  const what = sum === undefined ? (max === 1 ? ' call' : ' calls') : '';
  const time =
    calendar === undefined ? durationInWords(windowMs) : `a ${calendar.unit} (${calendar.timeZone})`;
  return `${shownMax ?? max}${what} in ${time} ${whose}`;
}

/** Writes a duration in its largest whole unit. */
export function durationInWords(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  const [unit, size] = units.find(([, each]) => ms % each === 0) ?? ['second', 1_000];
  const count = ms / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Reads the totals that conditions see, by the name of the limit; of several people the highest counts. */
async function totalsFor(uses: readonly CallUse[], readTotals: ReadTotals): Promise<LimitTotals> {
  const totals = await readTotals(uses.map(({ key, limit }) => ({ key, windowMs: limit.windowMs })));
  const found = new Map<string, { count: number; sum: number }>();
  for (const [index, { limit }] of uses.entries()) {
    const { count = 0, sum = 0 } = totals[index] ?? {};
    const before = found.get(limit.name) ?? { count: 0, sum: 0 };
    found.set(limit.name, { count: Math.max(count, before.count), sum: Math.max(sum, before.sum) });
  }
  return found;
}
