import { fileURLToPath } from 'node:url';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import { buildWorker } from '../turn/build-worker.ts';
import type { Order, Spent } from '../turn/order.ts';
import type { Crew, Step } from '../turn/race.ts';
import { startWorker } from '../turn/start-worker.ts';

export interface PeersPace {
  readonly warmUps: number;
  readonly rounds: number;
}

/** One of those that do the same work; of the sides, the peers know only that `whole` does not stream. */
interface Runner {
  readonly name: string;
  readonly side: Order['side'];
  readonly crew: Crew;
  best: Record<Step, Spent>;
}

interface Lap {
  readonly messages: number;
  readonly atOnce: number;
  readonly batch: number;
  readonly rounds: number;
}

let opened = 0;

/** P and R by the floor, by us and by the peers, in turns within one run. */
export async function measurePeers({ warmUps, rounds }: PeersPace): Promise<Table[]> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const model = await startInstantModel();
  const ours = buildWorker();
  const peer = (file: string) => fileURLToPath(new URL(file, import.meta.url));
  const [floor, our] = [await startCrew(ours), await startCrew(ours)];
  const aiSdk = await startCrew(peer('./ai-sdk-worker.mjs'));
  const genkit = await startCrew(peer('./genkit-worker.mjs'));
  const runners: Runner[] = [
    { name: 'floor', side: 'floor', crew: floor, best: noBest() },
    { name: 'ours', side: 'ours', crew: our, best: noBest() },
    { name: 'AI SDK 6, state by hand', side: 'floor', crew: aiSdk, best: noBest() },
    { name: 'Genkit 1.42, state by hand', side: 'floor', crew: genkit, best: noBest() },
    { name: 'floor, not streaming', side: 'whole', crew: floor, best: noBest() },
    { name: 'AI SDK 6, not streaming', side: 'whole', crew: aiSdk, best: noBest() },
    { name: 'Genkit 1.42, not streaming', side: 'whole', crew: genkit, best: noBest() },
  ];
  const where = { redisUrl: redis.url, modelUrl: model.url, tools: 1 };
  const lap = async (title: string, { messages, atOnce, batch, rounds: laps }: Lap): Promise<Table> => {
    for (const runner of runners) runner.best = noBest();
    for (let round = 0; round < laps; round += 1) {
      for (const runner of round % 2 === 0 ? runners : runners.toReversed())
        await run(runner, { ...where, messages, atOnce }, batch);
    }
    return tableOf(title, runners);
  };
  try {
    await lap('', { messages: 0, atOnce: 1, batch: warmUps, rounds: 1 });
    return [
      await lap('The same P and R by others, history of 10 messages', {
        messages: 10,
        atOnce: 1,
        batch: 20,
        rounds,
      }),
      await lap('The same with a history of 1,000 messages', {
        messages: 1_000,
        atOnce: 1,
        batch: 5,
        rounds: Math.ceil(rounds / 2),
      }),
      await lap('The same, 50 at once in one worker process, history of 10 messages', {
        messages: 10,
        atOnce: 50,
        batch: 300,
        rounds: Math.ceil(rounds / 4),
      }),
    ];
  } finally {
    for (const { crew } of runners) {
      crew.pauser.stop();
      crew.resumer.stop();
    }
    model.stop();
    await redis.stop();
  }
}

async function startCrew(file: string): Promise<Crew> {
  return { pauser: await startWorker(file), resumer: await startWorker(file) };
}

async function run(
  { side, crew, best }: Runner,
  setting: Omit<Order, 'what' | 'side' | 'ids'>,
  batch: number,
): Promise<void> {
  const ids = Array.from({ length: batch }, newThread);
  const { pauser, resumer } = crew;
  if (setting.messages > 0) await pauser.carryOut({ ...setting, side, ids, what: 'fill' });
  const pause = await pauser.carryOut({ ...setting, side, ids, what: 'pause' });
  const { found } = await resumer.carryOut({ ...setting, side, ids, what: 'find' });
  const resume = await resumer.carryOut({ ...setting, side, ids: found, what: 'resume' });
  for (const [step, { wallMs, cpuMs }] of Object.entries({ pause, resume }) as [Step, Spent][]) {
    best[step] = {
      wallMs: Math.min(best[step].wallMs, wallMs / batch),
      cpuMs: Math.min(best[step].cpuMs, cpuMs / batch),
    };
  }
}

function tableOf(title: string, runners: readonly Runner[]): Table {
  const both = ({ best }: Runner, of: keyof Spent): number => best.pause[of] + best.resume[of];
  return {
    title,
    columns: ['', 'P ms', 'R ms', 'P+R of floor', 'P CPU ms', 'R CPU ms', 'CPU of floor'],
    rows: runners.map((runner) => {
      // Who does not stream is held against the floor that does not.
      const isWhole = runner.side === 'whole';
      const floor =
        runners.find(({ name, side }) => name.startsWith('floor') && (side === 'whole') === isWhole) ??
        runner;
      const { pause, resume } = runner.best;
      return [
        runner.name,
        pause.wallMs.toFixed(3),
        resume.wallMs.toFixed(3),
        (both(runner, 'wallMs') / both(floor, 'wallMs')).toFixed(2),
        pause.cpuMs.toFixed(3),
        resume.cpuMs.toFixed(3),
        (both(runner, 'cpuMs') / both(floor, 'cpuMs')).toFixed(2),
      ];
    }),
  };
}

function noBest(): Record<Step, Spent> {
  const never = { wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
  return { pause: never, resume: never };
}

function newThread(): string {
  opened += 1;
  return `C0123456789:1712345678.${String(opened).padStart(6, '0')}`;
}
