import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { builtFile } from '../support/built-file.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { cpuMsOf, cpuMsOfMachine } from '../support/process-usage.ts';
import type { Table } from '../support/table.ts';
import { newThreadIds } from '../support/thread-ids.ts';
import { startTurnWorker, type TurnWorker } from '../turns/turn-worker.ts';

export interface WorkersPace {
  /** The numbers of worker processes that do the same work. */
  readonly teams: readonly number[];
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

/** Measures the same work done by teams of worker processes, and which processes used the cores. */
export async function measureWorkers(pace: WorkersPace): Promise<Table> {
  const redis = await startPrivateRedis();
  const client = new Redis(redis.url);
  const model = await startInstantModel();
  const file = builtFile('bench/turns/worker-process.ts');
  const workers = await Promise.all(
    Array.from({ length: Math.max(...pace.teams) }, () => startTurnWorker(file)),
  );
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
      const teams = pace.teams.map((count) => workers.slice(0, count));
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

/** Pauses and resumes threads; each worker does its share, and of several none resumes what it paused. */
async function runBatch(
  run: Run,
  team: readonly TurnWorker[],
  batch: number,
): Promise<Record<Step, Measured>> {
  const { redisUrl, modelUrl } = run;
  const common = { side: 'ours', redisUrl, modelUrl, messages: 0 } as const;
  const atOnce = Math.ceil(AT_ONCE / team.length);
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

function toTable(best: ReadonlyMap<string, Measured>, { teams, batch, rounds }: WorkersPace): Table {
  const timeOf = (count: number) =>
    STEPS.reduce((sum, step) => sum + (best.get(`${step} ${count}`) ?? NEVER).wallMs, 0);
  const rows = teams.map((count) => {
    const steps = STEPS.map((step) => best.get(`${step} ${count}`) ?? NEVER);
    const cpuMs = (party: Party) =>
      steps.reduce((sum, { cores, wallMs }) => sum + cores[party] * wallMs, 0) / batch;
    const inUse = PARTIES.map((party) => (cpuMs(party) * batch) / timeOf(count));
    return [
      `${count}`,
      ...steps.map(({ wallMs }) => String(Math.round((batch * 1000) / wallMs))),
      String(Math.round((batch * 1000) / timeOf(count))),
      (timeOf(teams[0] ?? 1) / timeOf(count)).toFixed(2),
      ...inUse.map((cores) => cores.toFixed(2)),
      Math.max(...steps.map(({ others }) => others)).toFixed(2),
      cpuMs('Redis').toFixed(2),
      String(Math.round(1000 / cpuMs('Redis'))),
    ];
  });
  return {
    title: `The same work on several workers, ${AT_ONCE} at once, best of ${rounds} rounds, ${cpus().length} cores`,
    columns: [
      'workers',
      'P per second',
      'R per second',
      'actions per second',
      'of the first',
      ...PARTIES.map((party) => `cores: ${party}`),
      'other programs',
      'ms of Redis per action',
      'actions that one core of Redis carries',
    ],
    rows,
  };
}

const NEVER: Measured = {
  wallMs: Number.NaN,
  cores: { workers: 0, model: 0, Redis: 0, bench: 0 },
  others: 0,
};
