import { newThreadIds } from '../support/thread-ids.ts';
import type { Batch, Spent } from './batch.ts';
import { startTurnWorker, type TurnWorker } from './turn-worker.ts';

/** The process that pauses, and the one that resumes and has no memory of the pause. */
export interface Crew {
  readonly pauser: TurnWorker;
  readonly resumer: TurnWorker;
}

/** A side of a race, with processes of its own. */
export interface Runner {
  readonly name: string;
  readonly side: Batch['side'];
  readonly crew: Crew;
}

export interface Servers {
  readonly redisUrl: string;
  readonly modelUrl: string;
}

export interface RaceSetting {
  readonly messages: number;
  readonly atOnce: number;
  /** The number of operations in a batch, of which the mean is taken. */
  readonly batch: number;
  readonly rounds: number;
  /** Threads to continue; without them every round starts new ones. */
  readonly threads?: readonly string[];
}

/** Per operation, in the best round; wall time and CPU time may be of different rounds. */
export interface RaceResult {
  readonly pause: Spent;
  readonly resume: Spent;
}

const NEVER: Spent = { wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };

export async function startCrew(file: string): Promise<Crew> {
  return { pauser: await startTurnWorker(file), resumer: await startTurnWorker(file) };
}

export function stopCrew({ pauser, resumer }: Crew): void {
  pauser.stop();
  resumer.stop();
}

/**
 * Lets the runners do the same work in alternation (A B C, C B A, ...) and returns the best round of each, in the runners' order.
 * On a machine that also does other things, the best of many short rounds is close to the truth.
 */
export async function race(
  runners: readonly Runner[],
  servers: Servers,
  setting: RaceSetting,
): Promise<RaceResult[]> {
  const results = new Map<Runner, RaceResult>();
  for (let round = 0; round < setting.rounds; round += 1) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      const { pause, resume } = await runRound(runner, servers, setting);
      const best = results.get(runner);
      results.set(runner, {
        pause: lower(best?.pause ?? NEVER, pause),
        resume: lower(best?.resume ?? NEVER, resume),
      });
    }
  }
  return runners.map((runner) => results.get(runner) ?? { pause: NEVER, resume: NEVER });
}

async function runRound(
  { side, crew }: Runner,
  servers: Servers,
  { messages, atOnce, batch, threads }: RaceSetting,
): Promise<RaceResult> {
  const ids = threads === undefined ? newThreadIds(batch) : [...threads];
  const common = { side, ...servers, messages, atOnce };
  if (messages > 0 && threads === undefined) await crew.pauser.run({ ...common, operation: 'fill', ids });
  const pause = await crew.pauser.run({ ...common, operation: 'pause', ids });
  const { found } = await crew.resumer.run({ ...common, operation: 'find', ids });
  const resume = await crew.resumer.run({ ...common, operation: 'resume', ids: found });
  const each = ({ wallMs, cpuMs }: Spent) => ({ wallMs: wallMs / ids.length, cpuMs: cpuMs / ids.length });
  return { pause: each(pause), resume: each(resume) };
}

function lower(left: Spent, right: Spent): Spent {
  return { wallMs: Math.min(left.wallMs, right.wallMs), cpuMs: Math.min(left.cpuMs, right.cpuMs) };
}

/** Returns what a pause and a resume took together. */
export function sumOf({ pause, resume }: RaceResult, kind: keyof Spent): number {
  return pause[kind] + resume[kind];
}
