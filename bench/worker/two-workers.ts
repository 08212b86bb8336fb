import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { builtFile } from '../support/built-file.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { cpuMsOf, cpuMsOfMachine } from '../support/process-usage.ts';
import type { Table } from '../support/table.ts';
import { newThreadIds } from '../support/thread-ids.ts';
import { startTurnWorker, type TurnWorker } from '../turns/turn-worker.ts';

export interface TwoWorkersPace {
  readonly warmUps: number;
  /** The number of threads in a batch. */
  readonly batch: number;
  readonly rounds: number;
}

const STEPS = ['pause', 'resume'] as const;
type Step = (typeof STEPS)[number];
const AT_ONCE = 50;

/** The processes that share the machine's cores. */
const PARTIES = ['workers', 'model', 'Redis', 'bench'] as const;
type Party = (typeof PARTIES)[number];

interface Measured {
  readonly wallMs: number;
  /** CPU time divided by wall time: 1 is one core. */
  readonly cores: Readonly<Record<Party, number>>;
  /** The CPU used by other programs meanwhile. */
  readonly others: number;
}

interface Run {
  readonly redisUrl: string;
  readonly modelUrl: string;
  readonly pids: Readonly<Record<Party, readonly number[]>>;
}

/** Measures the same work done by one worker process and by two, and which processes used the cores. */
export async function measureTwoWorkers(pace: TwoWorkersPace): Promise<Table> {
  const redis = await startPrivateRedis();
  const client = new Redis(redis.url);
  const model = await startInstantModel();
  const file = builtFile('bench/turns/worker-process.ts');
  const workers = [await startTurnWorker(file), await startTurnWorker(file)];
  try {
    const run: Run = {
      redisUrl: redis.url,
      modelUrl: model.url,
      pids: {
        workers: workers.flatMap(({ pid }) => pid ?? []),
        model: model.pid === undefined ? [] : [model.pid],
        Redis: [Number(/^process_id:(\d+)/m.exec(await client.info('server'))?.[1])],
        bench: [process.pid],
      },
    };
    await runBatch(run, workers, pace.warmUps);
    const best = new Map<string, Measured>();
    for (let round = 0; round < pace.rounds; round += 1) {
      const teams = [workers.slice(0, 1), workers];
      for (const team of round % 2 === 0 ? teams : teams.reverse()) {
        const batch = await runBatch(run, team, pace.batch);
        for (const step of STEPS) {
          const name = `${step} ${team.length}`;
          if (batch[step].wallMs < (best.get(name)?.wallMs ?? Number.POSITIVE_INFINITY))
            best.set(name, batch[step]);
        }
      }
    }
    return toTable(best, pace);
  } finally {
    for (const worker of workers) worker.stop();
    model.stop();
    await client.quit();
    await redis.stop();
  }
}

/** Pauses and resumes threads; of two workers each does half, and never resumes what it paused. */
async function runBatch(
  run: Run,
  team: readonly TurnWorker[],
  batch: number,
): Promise<Record<Step, Measured>> {
  const { redisUrl, modelUrl } = run;
  const common = { side: 'ours', redisUrl, modelUrl, messages: 0 } as const;
  const atOnce = AT_ONCE / team.length;
  let shares = team.map(() => newThreadIds(Math.ceil(batch / team.length)));
  const runAll = async (operation: 'find' | Step) =>
    Promise.all(
      team.map((worker, place) => worker.run({ ...common, operation, ids: shares[place] ?? [], atOnce })),
    );
  const pause = await measured(run, () => runAll('pause'));
  shares = shares.reverse();
  shares = (await runAll('find')).map(({ found }) => found);
  return { pause, resume: await measured(run, () => runAll('resume')) };
}

async function measured({ pids }: Run, work: () => Promise<unknown>): Promise<Measured> {
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

function toTable(best: ReadonlyMap<string, Measured>, { batch, rounds }: TwoWorkersPace): Table {
  const rows = STEPS.flatMap((step) =>
    [1, 2].map((count) => {
      const { wallMs, cores, others } = best.get(`${step} ${count}`) ?? NEVER;
      const alone = best.get(`${step} 1`) ?? NEVER;
      const inUse = PARTIES.reduce((sum, party) => sum + cores[party], 0);
      // As if all the work of one worker's run were spread evenly over all cores.
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
      'other programs',
      'most that the cores allow',
    ],
    rows,
  };
}

const NEVER: Measured = {
  wallMs: Number.NaN,
  cores: { workers: 0, model: 0, Redis: 0, bench: 0 },
  others: 0,
};
