import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { CAST } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { quantile } from '../quantiles.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import { type CountingProxy, startCountingProxy } from '../turn/counting-proxy.ts';
import { builtFile } from '../worker/build-processes.ts';
import { type MeasuredProcess, startBotProcess } from '../worker/start-process.ts';
import { type Asked, Visits } from './visits.ts';

export interface WholeWayPace {
  readonly warmUps: number;
  /** How many threads are played one after the other. */
  readonly alone: number;
  /** How many are played side by side, in so many rounds. */
  readonly atOnce: number;
  readonly rounds: number;
}

/** What a batch of operations used, all together. */
interface Used {
  readonly operations: number;
  readonly slackCalls: number;
  readonly roundTrips: number;
  readonly commands: number;
  readonly bytes: number;
  readonly wakeCommands: number;
  readonly wakeBytes: number;
  readonly cpuMs: number;
}

interface Waits {
  readonly card: number[];
  readonly acknowledged: number[];
  readonly effect: number[];
  readonly reply: number[];
}

interface Played {
  readonly waits: Waits;
  readonly asking: Used;
  readonly clicking: Used;
}

interface Both {
  readonly one: Played;
  readonly many: Played;
}

interface Stage {
  readonly visits: Visits;
  readonly bot: MeasuredProcess;
  readonly proxy: CountingProxy;
  readonly slackCalls: () => number;
}

const NOTHING: Used = {
  operations: 0,
  slackCalls: 0,
  roundTrips: 0,
  commands: 0,
  bytes: 0,
  wakeCommands: 0,
  wakeBytes: 0,
  cpuMs: 0,
};

/** From the words in Slack to the card, and from the click to the reply: how long people wait, and what it takes. */
export async function measureWholeWay(pace: WholeWayPace): Promise<Table[]> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  // The keys of BullMQ, and no others, have this in them.
  const proxy = await startCountingProxy(redis.url, '{engine-');
  const slack = await startLocalSlack();
  const model = await startInstantModel();
  const { botToken, appToken, apiUrl, workspace } = slack;
  const file = builtFile('bench/worker/bot-process.ts');
  const order = { botToken, appToken, apiUrl, modelUrl: model.url, approver: CAST.alice };
  const playWith = async (redisUrl: string, alone: number, rounds: number): Promise<Both> => {
    const bot = await startBotProcess(file, { ...order, redisUrl });
    const stage = {
      visits: new Visits(workspace, bot),
      bot,
      proxy,
      slackCalls: () => workspace.calls.length,
    };
    try {
      await play(stage, { rounds: Math.ceil(pace.warmUps / pace.atOnce), atOnce: pace.atOnce });
      const one = await play(stage, { rounds: alone, atOnce: 1 });
      return { one, many: await play(stage, { rounds, atOnce: pace.atOnce }) };
    } finally {
      await bot.stop();
    }
  };
  try {
    // Counting takes time on the way, so what is counted is not what is timed.
    const timed = await playWith(redis.url, pace.alone, pace.rounds);
    const counted = await playWith(proxy.url, Math.ceil(pace.alone / 4), 1);
    return [waitsTable(pace, timed), usedTable(pace, timed, counted)];
  } finally {
    await slack.stop();
    model.stop();
    await proxy.stop();
    await redis.stop();
  }
}

/** Plays rounds of so many threads: first all ask, then, when the bot has come to rest, all are approved. */
async function play(stage: Stage, { rounds, atOnce }: { rounds: number; atOnce: number }): Promise<Played> {
  const waits: Waits = { card: [], acknowledged: [], effect: [], reply: [] };
  const { visits } = stage;
  // One at a time they all ask and then all are approved, one after the other, since each rest takes a while.
  const lanes = atOnce === 1 ? rounds : atOnce;
  let [asking, clicking] = [NOTHING, NOTHING];
  for (let round = 0; round < (atOnce === 1 ? 1 : rounds); round += 1) {
    let asked: Asked[] = [];
    asking = sum(
      asking,
      await used(stage, lanes, async () => {
        asked = await each(Array.from({ length: lanes }), atOnce, () => visits.ask());
      }),
    );
    waits.card.push(...asked.map(({ cardMs }) => cardMs));
    clicking = sum(
      clicking,
      await used(stage, lanes, async () => {
        for (const clicked of await each(asked, atOnce, (request) => visits.click(request))) {
          waits.acknowledged.push(clicked.acknowledgedMs);
          waits.effect.push(clicked.effectMs);
          waits.reply.push(clicked.replyMs);
        }
      }),
    );
  }
  return { waits, asking, clicking };
}

async function each<Given, Made>(
  given: readonly Given[],
  atOnce: number,
  make: (one: Given) => Promise<Made>,
): Promise<Made[]> {
  if (atOnce > 1) return await Promise.all(given.map(make));
  const made: Made[] = [];
  for (const one of given) made.push(await make(one));
  return made;
}

async function used(stage: Stage, operations: number, work: () => Promise<void>): Promise<Used> {
  const { visits, bot, proxy, slackCalls } = stage;
  await visits.quiet();
  const { cpuMs } = await bot.usage();
  const calls = slackCalls();
  proxy.take();
  proxy.takeApart();
  await work();
  await visits.quiet();
  const { commands: wakeCommands, bytes: wakeBytes } = proxy.takeApart();
  return {
    operations,
    slackCalls: slackCalls() - calls,
    ...proxy.take(),
    wakeCommands,
    wakeBytes,
    cpuMs: (await bot.usage()).cpuMs - cpuMs,
  };
}

function sum(left: Used, right: Used): Used {
  return {
    operations: left.operations + right.operations,
    slackCalls: left.slackCalls + right.slackCalls,
    roundTrips: left.roundTrips + right.roundTrips,
    commands: left.commands + right.commands,
    bytes: left.bytes + right.bytes,
    wakeCommands: left.wakeCommands + right.wakeCommands,
    wakeBytes: left.wakeBytes + right.wakeBytes,
    cpuMs: left.cpuMs + right.cpuMs,
  };
}

function waitsTable({ alone, atOnce, rounds }: WholeWayPace, { one, many }: Both): Table {
  const row = (what: string, of: keyof Waits): string[] => {
    const [single, crowd] = [one.waits[of], many.waits[of]];
    const cells = [
      quantile(single, 0.5),
      quantile(single, 0.99),
      quantile(crowd, 0.5),
      quantile(crowd, 0.99),
    ];
    return [
      what,
      ...cells.map((value) => value.toFixed(1)),
      (quantile(crowd, 0.5) / quantile(single, 0.5)).toFixed(1),
    ];
  };
  return {
    title: `The whole way in Slack: ${alone} one at a time, ${atOnce} at once in ${rounds} rounds, one worker`,
    columns: ['ms', 'one: p50', 'p99', `${atOnce} at once: p50`, 'p99', 'p50 of one'],
    rows: [
      row('event to card posted', 'card'),
      row('click to acknowledgement', 'acknowledged'),
      row('click to effect', 'effect'),
      row('click to final reply', 'reply'),
    ],
  };
}

function usedTable({ atOnce }: WholeWayPace, timed: Both, counted: Both): Table {
  const row = (what: string, count: keyof Both, step: 'asking' | 'clicking'): string[] => {
    const used = counted[count][step];
    const { slackCalls, roundTrips, commands, bytes, wakeCommands, wakeBytes } = used;
    const mean = (value: number, digits: number) => (value / used.operations).toFixed(digits);
    const { cpuMs, operations } = timed[count][step];
    return [
      what,
      mean(slackCalls, 1),
      mean(roundTrips, 1),
      mean(commands, 1),
      mean(bytes, 0),
      mean(wakeCommands, 1),
      mean(wakeBytes, 0),
      (cpuMs / operations).toFixed(2),
    ];
  };
  return {
    title: "What that takes per operation: the record's own traffic, and beside it BullMQ's wake-ups",
    columns: [
      '',
      'Slack calls',
      'round trips',
      'commands',
      'bytes to Redis',
      'BullMQ commands',
      'BullMQ bytes',
      "bot's CPU ms",
    ],
    rows: [
      row('event to card, one at a time', 'one', 'asking'),
      row('click to reply, one at a time', 'one', 'clicking'),
      row(`event to card, ${atOnce} at once`, 'many', 'asking'),
      row(`click to reply, ${atOnce} at once`, 'many', 'clicking'),
    ],
  };
}
