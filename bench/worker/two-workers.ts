import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import { buildWorker } from '../turn/build-worker.ts';
import { type BenchWorker, startWorker } from '../turn/start-worker.ts';
import { cpuMsOf, cpuMsOfMachine } from './cpu-of.ts';

export interface TwoWorkersPace {
  readonly warmUps: number;
  /** How many threads make a batch. */
  readonly batch: number;
  readonly rounds: number;
}

const STEPS = ['pause', 'resume'] as const;
type Step = (typeof STEPS)[number];
const AT_ONCE = 50;

/** Who shares the machine's cores. */
const PARTIES = ['workers', 'model', 'Redis', 'bench'] as const;
type Party = (typeof PARTIES)[number];

interface Batch {
  readonly wallMs: number;
  /** CPU time of each over the wall time: 1 is one core. */
  readonly cores: Readonly<Record<Party, number>>;
  /** What somebody else took of the machine meanwhile. */
  readonly others: number;
}

interface Crowd {
  readonly redisUrl: string;
  readonly modelUrl: string;
  readonly pids: Readonly<Record<Party, readonly number[]>>;
}

let opened = 0;

/** The same work done by one worker process and by two, and who used the cores meanwhile. */
export async function measureTwoWorkers(pace: TwoWorkersPace): Promise<Table> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const client = new Redis(redis.url);
  const model = await startInstantModel();
  const file = buildWorker();
  const workers = [await startWorker(file), await startWorker(file)];
  try {
    const crowd: Crowd = {
      redisUrl: redis.url,
      modelUrl: model.url,
      pids: {
        workers: workers.flatMap(({ pid }) => pid ?? []),
        model: model.pid === undefined ? [] : [model.pid],
        Redis: [Number(/^process_id:(\d+)/m.exec(await client.info('server'))?.[1])],
        bench: [process.pid],
      },
    };
    await playBatch(crowd, workers, pace.warmUps);
    const best = new Map<string, Batch>();
    for (let round = 0; round < pace.rounds; round += 1) {
      const teams = [workers.slice(0, 1), workers];
      for (const team of round % 2 === 0 ? teams : teams.reverse()) {
        const played = await playBatch(crowd, team, pace.batch);
        for (const step of STEPS) {
          const name = `${step} ${team.length}`;
          if (played[step].wallMs < (best.get(name)?.wallMs ?? Number.POSITIVE_INFINITY))
            best.set(name, played[step]);
        }
      }
    }
    return tableOf(best, pace);
  } finally {
    for (const worker of workers) worker.stop();
    model.stop();
    await client.quit();
    await redis.stop();
  }
}

/** Threads pause and are resumed; with two workers each does half of both, and never what it paused itself. */
async function playBatch(
  crowd: Crowd,
  team: readonly BenchWorker[],
  batch: number,
): Promise<Record<Step, Batch>> {
  const { redisUrl, modelUrl } = crowd;
  const order = { side: 'ours', redisUrl, modelUrl, tools: 1, messages: 0 } as const;
  const atOnce = AT_ONCE / team.length;
  let shares = team.map(() => Array.from({ length: Math.ceil(batch / team.length) }, newThread));
  const carryOut = async (what: 'find' | Step) =>
    Promise.all(
      team.map((worker, place) => worker.carryOut({ ...order, what, ids: shares[place] ?? [], atOnce })),
    );
  const pause = await measured(crowd, () => carryOut('pause'));
  shares = shares.reverse();
  shares = (await carryOut('find')).map(({ found }) => found);
  return { pause, resume: await measured(crowd, () => carryOut('resume')) };
}

async function measured({ pids }: Crowd, work: () => Promise<unknown>): Promise<Batch> {
  const cpuOf = (party: Party): number => pids[party].reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const [before, machine] = [PARTIES.map(cpuOf), cpuMsOfMachine()];
  const began = performance.now();
  await work();
  const wallMs = performance.now() - began;
  const spent = PARTIES.map((party, place) => cpuOf(party) - (before[place] ?? 0));
  const others = cpuMsOfMachine() - machine - spent.reduce((sum, ms) => sum + ms, 0);
  const cores = PARTIES.map((party, place) => [party, (spent[place] ?? 0) / wallMs]);
  return { wallMs, cores: Object.fromEntries(cores), others: Math.max(0, others / wallMs) };
}

function newThread(): string {
  opened += 1;
  return `C0123456789:1712345678.${String(opened).padStart(6, '0')}`;
}

function tableOf(best: ReadonlyMap<string, Batch>, { batch, rounds }: TwoWorkersPace): Table {
  const rows = STEPS.flatMap((step) =>
    [1, 2].map((count) => {
      const { wallMs, cores, others } = best.get(`${step} ${count}`) ?? NEVER;
      const alone = best.get(`${step} 1`) ?? NEVER;
      const inUse = PARTIES.reduce((sum, party) => sum + cores[party], 0);
      // If all that one worker's work takes were spread evenly over all cores.
      const possible = cpus().length / PARTIES.reduce((sum, party) => sum + alone.cores[party], 0);
      return [
        `${step === 'pause' ? 'P' : 'R'}, ${count === 1 ? 'one worker' : 'two workers'}`,
        String(Math.round((batch * 1000) / wallMs)),
        (alone.wallMs / wallMs).toFixed(2),
        ...PARTIES.map((party) => cores[party].toFixed(2)),
        inUse.toFixed(2),
        others.toFixed(2),
        count === 1 ? '' : Math.min(count, possible).toFixed(2),
      ];
    }),
  );
  return {
    title: `The same work on one and on two workers, ${AT_ONCE} at once, best of ${rounds} rounds, ${cpus().length} cores`,
    columns: [
      '',
      'per second',
      'of one',
      ...PARTIES.map((party) => `cores: ${party}`),
      'together',
      'others on the machine',
      'most that these cores allow',
    ],
    rows,
  };
}

const NEVER: Batch = { wallMs: Number.NaN, cores: { workers: 0, model: 0, Redis: 0, bench: 0 }, others: 0 };
