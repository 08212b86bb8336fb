import type { Done, Order, Spent } from './order.ts';
import type { BenchWorker } from './start-worker.ts';

export type SideName = Order['side'];
export type Step = 'pause' | 'resume';

export interface Setting {
  readonly tools: number;
  readonly messages: number;
  readonly atOnce: number;
  /** How many operations make a batch, of which the mean is taken. */
  readonly batch: number;
  readonly rounds: number;
}

export interface Track {
  readonly redisUrl: string;
  readonly modelUrl: string;
  /** Each side has processes of its own, so that nothing of one is in the other's time. */
  readonly crews: Readonly<Record<SideName, Crew>>;
}

/** The process that pauses, and the one that resumes and has no memory of it. */
export interface Crew {
  readonly pauser: BenchWorker;
  readonly resumer: BenchWorker;
}

/** Per operation, of the best round; the wall time and the CPU time may be of different rounds. */
export type Result = Readonly<Record<Step, Spent>>;

let opened = 0;

/** Lets the sides do the same work in turns (A B, B A, ...), and takes the best round of each. */
export async function race<Name extends SideName>(
  track: Track,
  setting: Setting,
  names: readonly Name[],
): Promise<Record<Name, Result>> {
  const { tools, messages, atOnce, batch, rounds } = setting;
  const best = Object.fromEntries(names.map((name) => [name, { pause: never(), resume: never() }])) as Record<
    Name,
    Record<Step, Spent>
  >;
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : [...names].reverse();
    const threads = new Map<Name, string[]>();
    const carryOut = (name: Name, what: Order['what']): Promise<Done> => {
      const { pauser, resumer } = track.crews[name];
      const worker = what === 'find' || what === 'resume' ? resumer : pauser;
      const { redisUrl, modelUrl } = track;
      const ids = threads.get(name) ?? [];
      return worker.carryOut({ what, side: name, redisUrl, modelUrl, tools, messages, ids, atOnce });
    };
    for (const name of order) {
      threads.set(name, Array.from({ length: batch }, newThread));
      if (messages > 0) await carryOut(name, 'fill');
    }
    for (const step of ['pause', 'resume'] as const) {
      for (const name of order) {
        if (step === 'resume') threads.set(name, (await carryOut(name, 'find')).found);
        const { wallMs, cpuMs } = await carryOut(name, step);
        const before = best[name][step];
        best[name][step] = {
          wallMs: Math.min(before.wallMs, wallMs / batch),
          cpuMs: Math.min(before.cpuMs, cpuMs / batch),
        };
      }
    }
  }
  return best;
}

function never(): Spent {
  return { wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
}

/** As long as Slack's own. */
function newThread(): string {
  opened += 1;
  return `C0123456789:1712345678.${String(opened).padStart(6, '0')}`;
}
