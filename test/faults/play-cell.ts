import { cpSync, writeFileSync } from 'node:fs';
import type { Cell } from './cells/cell.ts';
import { letSettle } from './cells/keep-busy.ts';
import { executedOf } from './check/check-liveness.ts';
import { checkAll, type Violation } from './check/invariants.ts';
import { type Evidence, gatherEvidence } from './world/gather-evidence.ts';
import { type LongRun, startWorld, type World } from './world/start-world.ts';

/** One row of the table. */
export interface CellResult {
  readonly fault: string;
  readonly rounds: number;
  readonly threads: number;
  readonly effects: number;
  readonly approved: number;
  readonly executed: number;
  readonly violations: readonly Violation[];
  readonly seconds: number;
  readonly remark: string;
  readonly tally: ReadonlyMap<string, number>;
}

export interface CellOptions {
  readonly built: string;
  readonly rounds: number;
  readonly defect?: string;
  /** Slack's time limit for an acknowledgement, where it differs. */
  readonly acknowledgementMs?: number;
  /** A lower share of approved actions that is enough here. */
  readonly enoughExecuted?: number;
  /** The time limit for everything to end after the faults; four minutes by default. */
  readonly settleWithinMs?: number;
  readonly run?: LongRun;
  /** The folder for the workers' logs when a problem was found. */
  readonly keepLogIn?: string;
}

const SETTLE_WITHIN_MS = 240_000;
const LEAST_EXECUTED = 0.95;

/** Plays a fault against a world of its own, lets it come to rest, and holds what was seen from outside against the promises. */
export async function playCell(cell: Cell, options: CellOptions): Promise<CellResult> {
  const { built, rounds, defect, acknowledgementMs, enoughExecuted = 1, keepLogIn, run } = options;
  const begun = Date.now();
  const world = await startWorld({
    ...cell.world,
    built,
    ...(defect !== undefined && { defect }),
    ...(acknowledgementMs !== undefined && { acknowledgementMs }),
    ...(run !== undefined && { run }),
  });
  try {
    const played = await cell.play(world, rounds);
    const { errands, violations: own = [], remark = '', tally = new Map() } = played;
    await letSettle(world, options.settleWithinMs ?? SETTLE_WITHIN_MS);
    const evidence = await gatherEvidence(world, errands, {
      leastExecuted: Math.min(cell.leastExecuted ?? LEAST_EXECUTED, enoughExecuted),
      clocksDiffer: cell.world.clockAheadMs !== undefined,
    });
    const violations = [...own, ...checkAll(evidence)];
    if (violations.length > 0 && keepLogIn !== undefined) keep(world, evidence, keepLogIn);
    return {
      fault: cell.name,
      rounds: played.rounds,
      threads: errands.length,
      effects: evidence.effects.length,
      ...executedOf(evidence),
      violations,
      seconds: Math.round((Date.now() - begun) / 1_000),
      tally,
      remark: [remark, repeatedOf(world), callersOf(world)].filter((part) => part !== '').join('; '),
    };
  } finally {
    await world.stop();
  }
}

function repeatedOf({ people }: World): string {
  const { count } = people.lostWords;
  return count === 0 ? '' : `${count} messages said again, which Slack had given up telling the bot`;
}

function callersOf({ callers: { deaths, receiptUses } }: World): string {
  return deaths === 0 ? '' : `callers died ${deaths} times, ${receiptUses.size} receipts were used`;
}

/** Keeps what an investigation needs: the workers' logs, the audit log, and all messages. */
function keep({ logFile, workspace }: World, { audit, effects }: Evidence, file: string): void {
  cpSync(logFile, file);
  const said = workspace.state.messages.map(({ ts, thread_ts, user, text, blocks }) => ({
    ts,
    thread_ts,
    user,
    text,
    blocks,
  }));
  const told = workspace.deliveries.map(({ type, payload, attempts, outcome }) => ({
    type,
    event: payload.event,
    attempts: attempts.map(({ at, retryReason, acknowledgedAt }) => ({ at, retryReason, acknowledgedAt })),
    outcome: outcome.kind,
  }));
  const rows = [...audit, ...effects, ...said, ...told].map((row) => JSON.stringify(row));
  writeFileSync(`${file}.evidence`, rows.join('\n'));
}
