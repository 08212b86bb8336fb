import { builtFile } from '../support/built-file.ts';
import { startCountingProxy, type Traffic } from '../support/counting-proxy.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import type { Table } from '../support/table.ts';
import { newThreadIds } from '../support/thread-ids.ts';
import {
  type RaceResult,
  type RaceSetting,
  type Runner,
  race,
  type Servers,
  startCrew,
  stopCrew,
  sumOf,
} from './race.ts';

export interface TurnsPace {
  readonly warmUps: number;
  readonly rounds: number;
}

interface Track {
  readonly servers: Servers;
  readonly floor: Runner;
  readonly whole: Runner;
  readonly ours: Runner;
  readonly base: RaceSetting;
}

const HISTORIES = [10, 100, 1_000, 10_000];
const GROWN_TURNS = [2, 25, 250];
const GROWN_THREADS = 5;
/** The request, the call, its result and the answer. */
const MESSAGES_PER_TURN = 4;
const RATIOS = ['floor P ms', 'P ms', 'ratio', 'floor R ms', 'R ms', 'ratio', 'P+R', 'CPU'];

/** Measures a turn that pauses (P) and its resumption in another process (R), as multiples of the floor. */
export async function measureTurns({ warmUps, rounds }: TurnsPace): Promise<Table[]> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const file = builtFile('bench/turns/worker-process.ts');
  const [floorCrew, ourCrew] = [await startCrew(file), await startCrew(file)];
  const track: Track = {
    servers: { redisUrl: redis.url, modelUrl: model.url },
    floor: { name: 'floor', side: 'floor', crew: floorCrew },
    whole: { name: 'floor, not streaming', side: 'whole', crew: floorCrew },
    ours: { name: 'ours', side: 'ours', crew: ourCrew },
    base: { messages: 10, atOnce: 1, batch: 20, rounds },
  };
  const { servers, floor, whole, ours, base } = track;
  try {
    // A worker runs for days: its code was compiled long ago, which takes some thousand operations.
    await race([floor, whole, ours], servers, { ...base, messages: 0, batch: warmUps, rounds: 1 });
    return [
      await measureAlone(track),
      await measureHistories(track),
      await measureGrownThreads(track),
      await measureAtOnce(track),
      await countTraffic(track),
    ];
  } finally {
    stopCrew(floorCrew);
    stopCrew(ourCrew);
    model.stop();
    await redis.stop();
  }
}

async function measureAlone({ servers, floor, whole, ours, base }: Track): Promise<Table> {
  const runners = [floor, whole, ours];
  const results = await race(runners, servers, base);
  return compareToFloor(
    'One approval-gated call: paused (P), and resumed in another process (R)',
    runners,
    results,
  );
}

/** Formats results with ratios to the first runner, or to the first that does not stream for those that do not. */
export function compareToFloor(
  title: string,
  runners: readonly Runner[],
  results: readonly RaceResult[],
): Table {
  const floorOf = ({ side }: Runner) =>
    results[runners.findIndex((other) => (other.side === 'whole') === (side === 'whole'))];
  return {
    title,
    columns: ['', 'P ms', 'R ms', 'P+R of floor', 'P CPU ms', 'R CPU ms', 'CPU of floor'],
    rows: runners.flatMap((runner, place) => {
      const [result, floor] = [results[place], floorOf(runner)];
      if (result === undefined || floor === undefined) return [];
      const { pause, resume } = result;
      return [
        [
          runner.name,
          formatMs(pause.wallMs),
          formatMs(resume.wallMs),
          formatRatio(sumOf(result, 'wallMs') / sumOf(floor, 'wallMs')),
          formatMs(pause.cpuMs),
          formatMs(resume.cpuMs),
          formatRatio(sumOf(result, 'cpuMs') / sumOf(floor, 'cpuMs')),
        ],
      ];
    }),
  };
}

async function measureHistories({ servers, floor, ours, base }: Track): Promise<Table> {
  const rows: string[][] = [];
  for (const messages of HISTORIES) {
    const batch = messages >= 1_000 ? 5 : base.batch;
    const rounds = Math.ceil(base.rounds / (messages > 1_000 ? 5 : 1));
    const results = await race([floor, ours], servers, { ...base, messages, batch, rounds });
    rows.push([messages.toLocaleString('en'), ...ratioCells(results)]);
  }
  return { title: 'The same by the length of the history', columns: ['messages', ...RATIOS], rows };
}

/** The threads grow by real turns, each with an approved call, so that their requests are on record as well. */
async function measureGrownThreads({ servers, floor, ours, base }: Track): Promise<Table> {
  const rows: string[][] = [];
  for (const turns of GROWN_TURNS) {
    const threads = newThreadIds(GROWN_THREADS);
    const setting = { ...base, messages: 0, batch: GROWN_THREADS, threads };
    await race([floor, ours], servers, { ...setting, atOnce: GROWN_THREADS, rounds: turns });
    const results = await race([floor, ours], servers, { ...setting, rounds: Math.ceil(base.rounds / 2) });
    rows.push([String(turns), (turns * MESSAGES_PER_TURN).toLocaleString('en'), ...ratioCells(results)]);
  }
  return { title: 'Threads grown by real turns', columns: ['turns', 'messages', ...RATIOS], rows };
}

async function measureAtOnce({ servers, floor, ours, base }: Track): Promise<Table> {
  const runners = [floor, ours];
  const results = await race(runners, servers, {
    ...base,
    atOnce: 50,
    batch: 300,
    rounds: Math.ceil(base.rounds / 4),
  });
  return compareToFloor('50 at once in one worker process, per operation', runners, results);
}

async function countTraffic({ servers, floor, ours }: Track): Promise<Table> {
  const proxy = await startCountingProxy(servers.redisUrl);
  const rows: string[][] = [];
  const countOne = async ({ side, crew }: Runner, messages: number): Promise<Traffic[]> => {
    const ids = newThreadIds(1);
    const common = { side, ...servers, redisUrl: proxy.url, messages, atOnce: 1 };
    await crew.pauser.run({ ...common, operation: 'fill', ids });
    proxy.take();
    await crew.pauser.run({ ...common, operation: 'pause', ids });
    const pause = proxy.take();
    const { found } = await crew.resumer.run({ ...common, operation: 'find', ids });
    proxy.take();
    await crew.resumer.run({ ...common, operation: 'resume', ids: found });
    return [pause, proxy.take()];
  };
  try {
    for (const runner of [floor, ours]) {
      // The first operations of a connection also open it and load scripts.
      await countOne(runner, 1);
      for (const messages of HISTORIES) {
        const traffic = await countOne(runner, messages);
        const counts = traffic.flatMap(({ roundTrips, commands, bytes }) => [roundTrips, commands, bytes]);
        rows.push([runner.name, ...[messages, ...counts].map((count) => count.toLocaleString('en'))]);
      }
    }
  } finally {
    await proxy.stop();
  }
  const perStep = ['round trips', 'commands', 'bytes'];
  return {
    title: 'What one P and one R send to Redis',
    columns: ['', 'messages', ...['P', 'R'].flatMap((step) => perStep.map((count) => `${step} ${count}`))],
    rows,
  };
}

function ratioCells([floor, ours]: readonly RaceResult[]): string[] {
  if (floor === undefined || ours === undefined) return [];
  return [
    formatMs(floor.pause.wallMs),
    formatMs(ours.pause.wallMs),
    formatRatio(ours.pause.wallMs / floor.pause.wallMs),
    formatMs(floor.resume.wallMs),
    formatMs(ours.resume.wallMs),
    formatRatio(ours.resume.wallMs / floor.resume.wallMs),
    formatRatio(sumOf(ours, 'wallMs') / sumOf(floor, 'wallMs')),
    formatRatio(sumOf(ours, 'cpuMs') / sumOf(floor, 'cpuMs')),
  ];
}

function formatMs(value: number): string {
  return value.toFixed(3);
}

function formatRatio(value: number): string {
  return value.toFixed(2);
}
