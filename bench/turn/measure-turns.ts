import { Redis } from 'ioredis';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import { buildWorker } from './build-worker.ts';
import { startCountingProxy } from './counting-proxy.ts';
import { type Crew, type Result, race, type Setting, type Track } from './race.ts';
import { startWorker } from './start-worker.ts';
import { measureWakeUp } from './wake-cost.ts';

const BASE: Setting = {
  tools: 1,
  messages: 10,
  atOnce: 1,
  // Short ones in quick turns: on a machine that does other things as well, the best of many is close to the truth.
  batch: 20,
  rounds: Number(process.env.COUNTERSIGN_BENCH_TURN_ROUNDS ?? 40),
};
const WARM_UPS = 3_000;
const PAUSED = 500;
const HISTORIES = [10, 100, 1_000, 10_000];
const TOOLS = [1, 10, 100];

/** What a turn that pauses (P) and its resumption in another process (R) cost, as multiples of the floor. */
export async function measureTurns(): Promise<Table[]> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const model = await startInstantModel();
  const file = buildWorker();
  const [floor, ours] = [await startCrew(file), await startCrew(file)];
  const track = { redisUrl: redis.url, modelUrl: model.url, crews: { floor, whole: floor, ours } };
  try {
    // A worker runs for days: its code has been compiled to the end long before, which takes it some thousand operations.
    await race(track, { ...BASE, messages: 0, batch: WARM_UPS, rounds: 1 }, ['floor', 'whole', 'ours']);
    return [
      await alone(track),
      await histories(track),
      await manyTools(track),
      await atOnce(track),
      await traffic(track),
      await memory(track),
    ];
  } finally {
    for (const { pauser, resumer } of [floor, ours]) {
      pauser.stop();
      resumer.stop();
    }
    model.stop();
    await redis.stop();
  }
}

async function startCrew(file: string): Promise<Crew> {
  return { pauser: await startWorker(file), resumer: await startWorker(file) };
}

const ms = (value: number): string => value.toFixed(3);
const times = (value: number): string => value.toFixed(2);
const both = ({ pause, resume }: Result, of: 'wallMs' | 'cpuMs'): number => pause[of] + resume[of];

async function alone(track: Track): Promise<Table> {
  const { floor, whole, ours } = await race(track, BASE, ['floor', 'whole', 'ours']);
  const row = (name: string, result: Result): string[] => [
    name,
    ms(result.pause.wallMs),
    ms(result.resume.wallMs),
    times(both(result, 'wallMs') / both(floor, 'wallMs')),
    ms(result.pause.cpuMs),
    ms(result.resume.cpuMs),
    times(both(result, 'cpuMs') / both(floor, 'cpuMs')),
  ];
  return {
    title: 'One approval-gated call: paused (P) and resumed in another process (R)',
    columns: ['', 'P ms', 'R ms', 'P+R of floor', 'P CPU ms', 'R CPU ms', 'CPU of floor'],
    rows: [row('floor', floor), row('floor, not streaming', whole), row('ours', ours)],
  };
}

function ratioRow(name: string, floor: Result, ours: Result): string[] {
  return [
    name,
    ms(floor.pause.wallMs),
    ms(ours.pause.wallMs),
    times(ours.pause.wallMs / floor.pause.wallMs),
    ms(floor.resume.wallMs),
    ms(ours.resume.wallMs),
    times(ours.resume.wallMs / floor.resume.wallMs),
    times(both(ours, 'wallMs') / both(floor, 'wallMs')),
    times(both(ours, 'cpuMs') / both(floor, 'cpuMs')),
  ];
}

const RATIOS = ['floor P ms', 'P ms', 'ratio', 'floor R ms', 'R ms', 'ratio', 'P+R', 'CPU'];

async function histories(track: Track): Promise<Table> {
  const rows: string[][] = [];
  for (const messages of HISTORIES) {
    const isLong = messages >= 1_000;
    const batch = isLong ? 5 : BASE.batch;
    const rounds = Math.ceil(BASE.rounds / (messages > 1_000 ? 5 : 1));
    const { floor, ours } = await race(track, { ...BASE, messages, batch, rounds }, ['floor', 'ours']);
    rows.push(ratioRow(messages.toLocaleString('en'), floor, ours));
  }
  return { title: 'The same by the length of the history', columns: ['messages', ...RATIOS], rows };
}

async function manyTools(track: Track): Promise<Table> {
  const rows: string[][] = [];
  for (const tools of TOOLS) {
    const { floor, ours } = await race(track, { ...BASE, tools }, ['floor', 'ours']);
    rows.push(ratioRow(String(tools), floor, ours));
  }
  return { title: 'The same by the number of tools', columns: ['tools', ...RATIOS], rows };
}

async function atOnce(track: Track): Promise<Table> {
  const { floor, ours } = await race(
    track,
    { ...BASE, atOnce: 50, batch: 300, rounds: Math.ceil(BASE.rounds / 4) },
    ['floor', 'ours'],
  );
  const row = (name: string, { pause, resume }: Result): string[] => [
    name,
    String(Math.round(1000 / pause.wallMs)),
    String(Math.round(1000 / resume.wallMs)),
    times(floor.pause.wallMs / pause.wallMs),
    times(floor.resume.wallMs / resume.wallMs),
  ];
  return {
    title: '50 at once in one worker process',
    columns: ['', 'P/s', 'R/s', 'P/s of floor', 'R/s of floor'],
    rows: [row('floor', floor), row('ours', ours)],
  };
}

async function traffic(track: Track): Promise<Table> {
  const proxy = await startCountingProxy(track.redisUrl);
  const rows: string[][] = [];
  try {
    for (const side of ['floor', 'ours'] as const) {
      for (const messages of HISTORIES)
        rows.push(await countOne({ ...track, redisUrl: proxy.url }, side, messages));
    }
  } finally {
    await proxy.stop();
  }
  const wake = await measureWakeUp(track.redisUrl);
  rows.push(['one wake-up by BullMQ', '', '', wake.commands.toFixed(1), wake.bytes.toFixed(0), '', '', '']);
  return {
    title: 'What one P and one R send to Redis',
    columns: [
      '',
      'messages',
      'P round trips',
      'P commands',
      'P bytes',
      'R round trips',
      'R commands',
      'R bytes',
    ],
    rows,
  };

  async function countOne(
    { redisUrl, modelUrl, crews }: Track,
    side: 'floor' | 'ours',
    messages: number,
  ): Promise<string[]> {
    const threadId = `C0123456789:1700000000.${side === 'ours' ? 1 : 2}${String(messages).padStart(5, '0')}`;
    const { pauser, resumer } = crews[side];
    const order = { side, redisUrl, modelUrl, tools: 1, messages, atOnce: 1 };
    await pauser.carryOut({ ...order, what: 'fill', ids: [threadId] });
    // The first operation on a connection also says hello.
    await resumer.carryOut({ ...order, what: 'fill', ids: [`${threadId}9`] });
    proxy.take();
    await pauser.carryOut({ ...order, what: 'pause', ids: [threadId] });
    const pause = proxy.take();
    const { found } = await resumer.carryOut({ ...order, what: 'find', ids: [threadId] });
    proxy.take();
    await resumer.carryOut({ ...order, what: 'resume', ids: found });
    const counts = [pause, proxy.take()].flatMap(({ roundTrips, commands, bytes }) => [
      roundTrips,
      commands,
      bytes,
    ]);
    return [side, messages.toLocaleString('en'), ...counts.map((count) => count.toLocaleString('en'))];
  }
}

/** What Redis holds for one paused thread, and how much of it are the thread's own messages. */
async function memory(track: Track): Promise<Table> {
  const client = new Redis(track.redisUrl);
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  const rows: string[][] = [];
  for (const side of ['floor', 'ours'] as const) {
    const ids = Array.from({ length: PAUSED }, (_, index) => `C0123456789:16${side.length}.${index + 1e6}`);
    const { redisUrl, modelUrl, crews } = track;
    const order = { side, redisUrl, modelUrl, tools: 1, messages: 0, atOnce: 1 };
    // What earlier tables left to be shown is no part of this one.
    await crews[side].pauser.carryOut({ ...order, what: 'deliver', ids: [''] });
    const before = await used();
    await crews[side].pauser.carryOut({ ...order, what: 'pause', ids });
    await crews[side].pauser.carryOut({ ...order, what: 'deliver', ids: [''] });
    const bytes = ((await used()) - before) / PAUSED;
    const log = (await client.keys(`*log:${ids[0]}`))[0] ?? '';
    const own = Number(await client.memory('USAGE', log, 'SAMPLES', 0));
    rows.push([side, ...[bytes, own, bytes - own].map((count) => Math.round(count).toLocaleString('en'))]);
  }
  await client.quit();
  return {
    title: `Memory in Redis for one paused thread (mean of ${PAUSED})`,
    columns: ['', 'bytes', 'its messages', 'beyond them'],
    rows,
  };
}
