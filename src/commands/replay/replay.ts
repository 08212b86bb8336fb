import type { ReadTotals } from '../../policy/limits.ts';
import type { AuditRow } from '../../store/port/audit.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { Decisions, type RuleStats, type Suggestion } from './decisions.ts';
import {
  CHANGES,
  type Change,
  type Comparison,
  type CountedUse,
  compare,
  type JudgedLogged,
  judgeLogged,
  type Obstacle,
} from './judge-logged.ts';
import { isCall, type LoggedCall, parseRow, type RequestStep } from './logged-row.ts';

/** Calls of one tool with the same ends then and now. */
export interface CallGroup extends Omit<Comparison, 'assumption'> {
  readonly tool: string;
  readonly calls: number;
  /** The first of them: when, and its request or thread. */
  readonly first: { readonly at: number; readonly subject: string };
}

/** The result of a replay. */
export interface ReplayResult {
  readonly calls: number;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly changes: Readonly<Record<Change, number>>;
  readonly groups: readonly CallGroup[];
  readonly rules: readonly RuleStats[];
  readonly consider: readonly Suggestion[];
  /** The number of calls that could not be judged, or only on an assumption. */
  readonly unknown: Readonly<Record<Unknown, number>>;
  /** The tools of the log that the candidate does not have. */
  readonly missingTools: readonly string[];
}

export type Unknown = Obstacle | NonNullable<Comparison['assumption']> | 'unreadable';

const DAY_MS = 86_400_000;

const NO_CHANGES: Readonly<Record<Change, number>> = {
  'not-asked': 0,
  'not-denied': 0,
  approvals: 0,
  approvers: 0,
  asked: 0,
  denied: 0,
  'not-judged': 0,
  same: 0,
};

interface OpenRequest {
  readonly call: LoggedCall;
  readonly judged: JudgedLogged;
  readonly decide: ReturnType<Decisions['ask']>;
}

/**
 * Judges the calls of the audit log by a candidate manifest, row by row in the order of time. It keeps the requests that are open at that
 * point, what limits count, and totals: its memory does not grow with the rows. It runs no tool and writes nothing.
 */
export class Replay {
  readonly #toolbox: OpenToolbox;
  readonly #since: number;
  readonly #countFrom: number;
  readonly #counts = new LimitCounts();
  readonly #decisions = new Decisions();
  readonly #open = new Map<string, OpenRequest>();
  /** Calls that paused while they ran; the next start of such a call is no new call. */
  readonly #paused = new Set<string>();
  readonly #groups = new Map<string, { -readonly [Key in keyof CallGroup]: CallGroup[Key] }>();
  readonly #unknown: Record<Unknown, number> = {
    'no-tool': 0,
    'no-arguments': 0,
    'other-arguments': 0,
    'grant-holds': 0,
    'approvers-of-call': 0,
    'denied-by-rule': 0,
    unreadable: 0,
  };
  readonly #missing = new Set<string>();
  #span: { readonly from: number; readonly until: number } | undefined;

  /** `since` is the time of the first row to report; the windows of limits reach further back. */
  constructor(toolbox: OpenToolbox, since = Number.NEGATIVE_INFINITY) {
    this.#toolbox = toolbox;
    this.#since = since;
    const { limits, agent } = toolbox.manifest;
    this.#countFrom = since - Math.max(agent.firstDays * DAY_MS, ...limits.map(({ windowMs }) => windowMs));
  }

  /** Adds the next row. */
  async add(row: AuditRow): Promise<void> {
    if (row.at < this.#countFrom) return;
    const logged = parseRow(row);
    if (logged === undefined) return;
    switch (logged.kind) {
      case 'call':
        return this.#judge(logged.call);
      case 'step':
        return this.#follow(logged.subject, logged.step, row.at);
      case 'effect-end':
        if (logged.end === 'failed') this.#counts.remove(logged.call.action);
        else this.#paused.add(logged.call.identity);
        return;
      case 'unreadable':
        if (row.at >= this.#since) this.#unknown.unreadable += 1;
    }
  }

  /** Adds a row whose contents were erased. */
  addErased({ event, at }: Pick<AuditRow, 'event' | 'at'>): void {
    if (isCall(event) && at >= this.#since) this.#unknown.unreadable += 1;
  }

  async #judge(call: LoggedCall): Promise<void> {
    const { before } = call;
    if (before.outcome === 'ran' && this.#paused.delete(call.identity)) return;
    const judged = await judgeLogged(this.#toolbox, call, this.#counts.at(call.at));
    const { outcome } = judged.after;
    const isRun = outcome === 'run' || (outcome === 'ask' && before.outcome === 'ran');
    if (isRun) this.#counts.add(call.action, judged.uses, call.at);
    const isReported = call.at >= this.#since;
    if (isReported) this.#report(call, judged);
    if (before.outcome !== 'asked') return;
    const decide = isReported ? this.#decisions.ask(call) : () => {};
    this.#open.set(call.subject, { call, judged, decide });
  }

  #report({ at, subject, tool, before }: LoggedCall, { after, steps }: JudgedLogged): void {
    this.#span = { from: this.#span?.from ?? at, until: at };
    this.#decisions.reach(tool, steps);
    const { assumption, ...compared } = compare(before, after);
    if (assumption !== undefined) this.#unknown[assumption] += 1;
    if (after.outcome === 'not-judged') this.#unknown[after.obstacle] += 1;
    if (this.#toolbox.find(tool) === undefined) this.#missing.add(tool);
    const key = JSON.stringify([tool, compared]);
    const group = this.#groups.get(key) ?? { tool, ...compared, calls: 0, first: { at, subject } };
    group.calls += 1;
    this.#groups.set(key, group);
  }

  #follow(subject: string, step: RequestStep, at: number): void {
    const request = this.#open.get(subject);
    if (request === undefined) return;
    const { call, judged, decide } = request;
    decide(step, at);
    // What the candidate would ask about counts if it ran then; what it would run has counted already.
    if (step === 'started' && judged.after.outcome === 'ask') this.#counts.add(call.action, judged.uses, at);
    if (step === 'without-effect') this.#counts.remove(call.action);
    if (step === 'paused') this.#paused.add(call.identity);
    if (step !== 'approved' && step !== 'started') this.#open.delete(subject);
  }

  /** Returns what was found in all rows so far. */
  result(): ReplayResult {
    const order = Object.keys(CHANGES);
    const groups = [...this.#groups.values()].sort(
      (left, right) => order.indexOf(left.change) - order.indexOf(right.change) || right.calls - left.calls,
    );
    const changes = { ...NO_CHANGES };
    for (const { change, calls } of groups) changes[change] += calls;
    return {
      calls: groups.reduce((sum, { calls }) => sum + calls, 0),
      from: this.#span?.from,
      until: this.#span?.until,
      changes,
      groups,
      rules: this.#decisions.rules(),
      consider: this.#decisions.consider(this.#toolbox),
      unknown: { ...this.#unknown },
      missingTools: [...this.#missing].sort(),
    };
  }
}

interface Counted {
  readonly at: number;
  readonly amount: number;
}

/** Counts replayed calls against limits, by the time of their rows, as the record counts them by its clock. */
class LimitCounts {
  readonly #byKey = new Map<string, Map<string, Counted>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  /** Counts a call at a time; the same call again only counts later. */
  add(action: string, uses: readonly CountedUse[], at: number): void {
    if (uses.length === 0) return;
    for (const { key, amount = 0 } of uses) {
      const counted = this.#byKey.get(key) ?? new Map<string, Counted>();
      // Moved to the end, so that the oldest is always the first.
      counted.delete(action);
      this.#byKey.set(key, counted.set(action, { at, amount }));
    }
    this.#keysOf.set(
      action,
      uses.map(({ key }) => key),
    );
  }

  /** Gives back what a call counted that had no effect. */
  remove(action: string): void {
    for (const key of this.#keysOf.get(action) ?? []) this.#byKey.get(key)?.delete(action);
    this.#keysOf.delete(action);
  }

  /** Returns a reader of the totals at a time. */
  at(now: number): ReadTotals {
    return async (limits) => limits.map(({ key, windowMs }) => this.#total(key, now - windowMs));
  }

  #total(key: string, before: number): { readonly count: number; readonly sum: number } {
    const counted = this.#byKey.get(key);
    if (counted === undefined) return { count: 0, sum: 0 };
    for (const [action, { at }] of counted) {
      if (at > before) break;
      counted.delete(action);
      this.#keysOf.delete(action);
    }
    let sum = 0;
    for (const { amount } of counted.values()) sum += amount;
    return { count: counted.size, sum };
  }
}
