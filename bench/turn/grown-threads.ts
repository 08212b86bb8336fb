import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import { buildWorker } from './build-worker.ts';
import type { Spent } from './order.ts';
import type { Step } from './race.ts';
import { type BenchWorker, startWorker } from './start-worker.ts';

export interface GrownPace {
  /** In how many threads each side plays one turn first, so that its code is compiled to the end. */
  readonly warmUps: number;
  /** By how many turns the threads have grown when they are measured. */
  readonly turns: readonly number[];
  readonly threads: number;
  readonly rounds: number;
}

const SIDES = ['floor', 'ours'] as const;
type SideName = (typeof SIDES)[number];
/** What was said, the call, its result, the answer. */
const MESSAGES_A_TURN = 4;

interface Grower {
  readonly side: SideName;
  readonly pauser: BenchWorker;
  readonly resumer: BenchWorker;
  readonly ids: readonly string[];
}

/** P and R in threads that have grown by turns as people have them, each with a call that was signed and run. */
export async function measureGrownThreads(pace: GrownPace): Promise<Table> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const model = await startInstantModel();
  const file = buildWorker();
  const growers: Grower[] = [];
  for (const side of SIDES)
    growers.push({ side, pauser: await startWorker(file), resumer: await startWorker(file), ids: [] });
  const rows: string[][] = [];
  const where = { redisUrl: redis.url, modelUrl: model.url };
  try {
    for (const grower of growers) await play({ ...grower, ids: newThreads(0, pace.warmUps) }, where, 1);
    for (const turns of pace.turns) {
      const named = growers.map((grower) => ({ ...grower, ids: newThreads(turns, pace.threads) }));
      for (let turn = 0; turn < turns; turn += 1)
        for (const grower of named) await play(grower, where, pace.threads);
      const best = await raceOn(named, where, pace.rounds);
      rows.push(rowOf(turns, best));
    }
  } finally {
    for (const { pauser, resumer } of growers) {
      pauser.stop();
      resumer.stop();
    }
    model.stop();
    await redis.stop();
  }
  return {
    title: `Threads grown by real turns (best of ${pace.rounds} rounds, which go on growing them)`,
    columns: [
      'turns',
      'messages',
      'floor P ms',
      'P ms',
      'ratio',
      'floor R ms',
      'R ms',
      'ratio',
      'P+R',
      'CPU',
    ],
    rows,
  };
}

interface Where {
  readonly redisUrl: string;
  readonly modelUrl: string;
}

/** One more turn in every thread of a side. */
async function play({ side, pauser, resumer, ids }: Grower, where: Where, atOnce: number) {
  const order = { side, ...where, tools: 1, messages: 0, atOnce };
  const pause = await pauser.carryOut({ ...order, what: 'pause', ids: [...ids] });
  const { found } = await resumer.carryOut({ ...order, what: 'find', ids: [...ids] });
  return { pause, resume: await resumer.carryOut({ ...order, what: 'resume', ids: found }) };
}

type Best = Record<SideName, Record<Step, Spent>>;

async function raceOn(growers: readonly Grower[], where: Where, rounds: number): Promise<Best> {
  const never = () => ({ wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY });
  const best: Best = {
    floor: { pause: never(), resume: never() },
    ours: { pause: never(), resume: never() },
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const grower of round % 2 === 0 ? growers : growers.toReversed()) {
      const played = await play(grower, where, 1);
      for (const step of ['pause', 'resume'] as const) {
        const { wallMs, cpuMs } = best[grower.side][step];
        const count = grower.ids.length;
        best[grower.side][step] = {
          wallMs: Math.min(wallMs, played[step].wallMs / count),
          cpuMs: Math.min(cpuMs, played[step].cpuMs / count),
        };
      }
    }
  }
  return best;
}

function rowOf(turns: number, { floor, ours }: Best): string[] {
  const both = ({ pause, resume }: Record<Step, Spent>, of: keyof Spent): number => pause[of] + resume[of];
  return [
    String(turns),
    (turns * MESSAGES_A_TURN).toLocaleString('en'),
    floor.pause.wallMs.toFixed(3),
    ours.pause.wallMs.toFixed(3),
    (ours.pause.wallMs / floor.pause.wallMs).toFixed(2),
    floor.resume.wallMs.toFixed(3),
    ours.resume.wallMs.toFixed(3),
    (ours.resume.wallMs / floor.resume.wallMs).toFixed(2),
    (both(ours, 'wallMs') / both(floor, 'wallMs')).toFixed(2),
    (both(ours, 'cpuMs') / both(floor, 'cpuMs')).toFixed(2),
  ];
}

/** The same names on both sides, whose keys are apart. */
function newThreads(turns: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, index) => `C0123456789:17${String(turns).padStart(8, '0')}.${100_000 + index}`,
  );
}
