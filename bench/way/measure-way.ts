import { setTimeout as sleep } from 'node:timers/promises';
import { startCountingProxy } from '../support/counting-proxy.ts';
import { type InstantModel, startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { cpuMsOf, residentBytesOf } from '../support/process-usage.ts';
import type { Table } from '../support/table.ts';
import { allBots, type BotKind } from './bots.ts';
import { Figures } from './figures.ts';
import type { PendingCard, SlackPeople } from './slack-people.ts';
import { openStage, type Stage, type StartedBot } from './stage.ts';

export interface WayPace {
  readonly rounds: number;
  /** The warm-up actions of each bot. */
  readonly warmUps: number;
  /** The sequential actions of a round, with a Slack and a model that answer at once. */
  readonly alone: number;
  /** The same with real latencies. */
  readonly aloneSlow: number;
  readonly atOnce: number;
  readonly restMs: number;
}

/** A bot with the Slack and the Redis that it has to itself. */
interface Contestant {
  readonly kind: BotKind;
  readonly stage: Stage;
  readonly redisUrl: string;
}

/** The settings of a round; `label` starts the names of its figures. */
interface Lap {
  readonly label: string;
  readonly actions: number;
  readonly atOnce: boolean;
}

const SLACK_MS = 100;
const MODEL_MS = 800;
const SETTLE_MS = 2_000;
/** A bot looks once at everything on record in the half minute after its start, and often at what was active in the last 90 s; then it rests. */
const REST_BEGINS_MS = 100_000;
const MEGABYTE = 1024 * 1024;

/**
 * Measures the whole way from a message to the card and from the click to the reply, as people and operators notice it: our
 * bot, the floor and, if it is installed, the peer, in alternation so that noise hits all alike.
 */
export async function measureWay(pace: WayPace): Promise<Table[]> {
  const model = await startInstantModel();
  const redises: { readonly url: string; stop(): Promise<void> }[] = [];
  const contestants: Contestant[] = [];
  const [times, usage] = [new Figures(), new Figures()];
  try {
    for (const kind of await allBots()) {
      const redis = await startPrivateRedis();
      redises.push(redis);
      const stage = await openStage(kind, { delayMs: SLACK_MS });
      contestants.push({ kind, stage, redisUrl: redis.url });
    }
    await measureLaps(contestants, model, pace, { times, usage });
    await countRedisCommands(contestants, model, pace, usage);
    await measureStarts(contestants, model, pace, usage);
  } finally {
    for (const { stage } of contestants) await stage.stop();
    for (const redis of redises) await redis.stop();
    model.stop();
  }
  const [ours = 'ours', ...others] = contestants.map(({ kind }) => kind.name);
  const names = [ours, ...others];
  return [
    {
      title: `The whole way (medians of ${pace.rounds} rounds; real: Slack ${SLACK_MS} ms, model ${MODEL_MS} ms)`,
      columns: ['', ...names, ...others.map((other) => `${ours} of ${other}`)],
      rows: [...times.toRows(names), ...usage.toRows(names)],
    },
  ];
}

async function measureLaps(
  contestants: readonly Contestant[],
  model: InstantModel,
  { rounds, warmUps, alone, aloneSlow, atOnce }: WayPace,
  { times, usage }: { readonly times: Figures; readonly usage: Figures },
): Promise<void> {
  const running: (Contestant & { readonly bot: StartedBot })[] = [];
  for (const contestant of contestants) {
    const { stage, redisUrl } = contestant;
    running.push({ ...contestant, bot: await stage.startBot({ redisUrl, modelUrl: model.url }) });
    await doActions(stage.people, { label: '', actions: warmUps, atOnce: true });
  }
  for (const isSlow of [false, true]) {
    const latency = isSlow ? 'real' : 'instant';
    const laps: readonly Lap[] = [
      { label: `${latency}, one at a time`, actions: isSlow ? aloneSlow : alone, atOnce: false },
      { label: `${latency}, ${atOnce} at once`, actions: atOnce, atOnce: true },
    ];
    await model.setDelay(isSlow ? MODEL_MS : 0);
    for (const { stage } of running) stage.setSlow(isSlow);
    for (const lap of laps) {
      await inAlternation(running, rounds, async ({ kind, stage, bot }) => {
        await measureLap(stage, bot, lap, (name, ...samples) =>
          times.add(`${lap.label}: ${name}`, kind.name, ...samples),
        );
        if (isSlow && !lap.atOnce) countCalls(stage, lap, kind, usage);
      });
    }
  }
  await model.setDelay(0);
  for (const { stage, bot } of running) {
    stage.setSlow(false);
    await bot.kill();
  }
}

async function measureLap(
  { workspace, people }: Stage,
  bot: StartedBot,
  lap: Lap,
  add: (name: string, ...samples: readonly number[]) => void,
): Promise<void> {
  workspace.calls.length = 0;
  const cpuMs = cpuMsOf(bot.pid);
  const { cards, times } = await Promise.race([doActions(people, lap), bot.failed]);
  const spentMs = cpuMsOf(bot.pid) - cpuMs;
  const refused = workspace.calls.find(({ response }) => response.ok !== true);
  if (refused !== undefined)
    throw new Error(`Slack refused ${refused.method}: ${JSON.stringify(refused.response)}`);
  add('event to card, ms', ...cards.map(({ cardMs }) => cardMs));
  add('click to acknowledgement, ms', ...times.map(({ acknowledgedMs }) => acknowledgedMs));
  add('click to final reply, ms', ...times.map(({ replyMs }) => replyMs));
  add("bot's CPU per action, ms", spentMs / lap.actions);
}

/** Makes all requests and then approves them; between the two, and at the end, the bot comes to rest. */
async function doActions(people: SlackPeople, { actions, atOnce }: Lap) {
  const each = async <Given, Result>(items: readonly Given[], run: (item: Given) => Promise<Result>) => {
    if (atOnce) return await Promise.all(items.map(run));
    const results: Result[] = [];
    for (const item of items) results.push(await run(item));
    return results;
  };
  const cards = await each([...Array(actions).keys()], () => people.request());
  await people.untilQuiet();
  const times = await each(cards, (card: PendingCard) => people.approve(card));
  await people.untilQuiet();
  return { cards, times };
}

function countCalls({ workspace }: Stage, { actions }: Lap, { name }: BotKind, figures: Figures): void {
  const byMethod = new Map<string, number>();
  for (const { method } of workspace.calls) byMethod.set(method, (byMethod.get(method) ?? 0) + 1);
  figures.add('Slack calls per action', name, workspace.calls.length / actions);
  for (const [method, count] of [...byMethod].sort())
    figures.add(`Slack calls per action: ${method}`, name, count / actions);
}

async function measureStarts(
  contestants: readonly Contestant[],
  model: InstantModel,
  { rounds }: WayPace,
  figures: Figures,
): Promise<void> {
  await inAlternation(contestants, rounds, async ({ kind, stage, redisUrl }) => {
    const bot = await stage.startBot({ redisUrl, modelUrl: model.url });
    await sleep(SETTLE_MS);
    figures.add('start to connected, ms', kind.name, bot.startUpMs);
    figures.add('resident memory at rest, MB', kind.name, residentBytesOf(bot.pid) / MEGABYTE);
    await bot.kill();
  });
}

/** Counts behind a proxy, which would be in the times of the other figures. */
async function countRedisCommands(
  contestants: readonly Contestant[],
  model: InstantModel,
  { restMs, alone }: WayPace,
  figures: Figures,
): Promise<void> {
  for (const { kind, stage, redisUrl } of contestants) {
    const proxy = await startCountingProxy(redisUrl);
    try {
      const bot = await stage.startBot({ redisUrl: proxy.url, modelUrl: model.url });
      await doActions(stage.people, { label: '', actions: 1, atOnce: false });
      await sleep(REST_BEGINS_MS);
      const cpuMs = cpuMsOf(bot.pid);
      proxy.take();
      await sleep(restMs);
      const atRest = proxy.take().commands / restMs;
      const restCpuMs = cpuMsOf(bot.pid) - cpuMs;
      const startedAt = performance.now();
      await doActions(stage.people, { label: '', actions: alone, atOnce: false });
      const { commands } = proxy.take();
      const expectedAtRest = atRest * (performance.now() - startedAt);
      figures.add('Redis commands per action', kind.name, Math.max(0, commands - expectedAtRest) / alone);
      figures.add('Redis commands per second at rest', kind.name, atRest * 1_000);
      figures.add("bot's CPU at rest, ms per second", kind.name, (restCpuMs / restMs) * 1_000);
      await bot.kill();
    } finally {
      await proxy.stop();
    }
  }
}

/** Gives every contestant a turn in each round, in the order A B C, C B A, and so on. */
async function inAlternation<Item>(
  contestants: readonly Item[],
  rounds: number,
  measure: (contestant: Item) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed())
      await measure(contestant);
}
