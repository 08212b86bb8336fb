import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';
import { Visits } from '../slack/visits.ts';
import { startInstantModel } from '../start-instant-model.ts';
import type { Table } from '../table.ts';
import type { Usage } from './bot-messages.ts';
import { builtFile } from './build-processes.ts';
import { type MeasuredProcess, startBotProcess, startProcess } from './start-process.ts';

const MEGABYTE = 1024 * 1024;
const AT_ONCE = 50;
const SETTLED_MS = 2_000;
const PATIENCE_MS = 60_000;

/** What a worker holds at rest, with many threads that wait for people, and with many whose model does not answer. */
export async function measureMemory(threads: number): Promise<Table> {
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const model = await startInstantModel();
  const silent = await startSilentModel();
  try {
    const rows = [
      ...(await paused(redis.url, model.url, threads)),
      ...(await inCalls(redis.url, silent, threads)),
      ...(await unbounded(redis.url, silent, threads)),
    ];
    return {
      title: `Memory of a worker after a collection, with ${threads.toLocaleString('en')} threads in flight`,
      columns: ['', 'resident MB', 'heap MB', 'in a model call', 'heap per thread, bytes'],
      rows,
    };
  } finally {
    model.stop();
    await silent.stop();
    await redis.stop();
  }
}

/** Threads come and pause, so many twice: what the first ones leave behind is not of the threads but of having worked at all. */
async function paused(redisUrl: string, modelUrl: string, threads: number): Promise<string[][]> {
  const slack = await startLocalSlack();
  const bot = await startBotOn(slack, redisUrl, modelUrl);
  try {
    const visits = new Visits(slack.workspace, bot);
    const askAll = async (): Promise<Usage> => {
      for (let done = 0; done < threads; done += AT_ONCE)
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, threads - done) }, () => visits.ask()));
      await visits.quiet();
      return await atRest(bot);
    };
    const [start, first, second] = [await atRest(bot), await askAll(), await askAll()];
    return [
      row('the bot, connected and at rest', start),
      row('the same, with all threads paused', first),
      row('the same, with as many again', second, { growth: (second.heapBytes - first.heapBytes) / threads }),
    ];
  } finally {
    await bot.stop();
    await slack.stop();
  }
}

/** The bot begins as many turns as it has hands; what else was said waits in Redis. */
async function inCalls(redisUrl: string, silent: SilentModel, threads: number): Promise<string[][]> {
  const slack = await startLocalSlack();
  const bot = await startBotOn(slack, redisUrl, silent.url);
  const { workspace } = slack;
  try {
    const mention = `<@${workspace.state.app.botUserId}> refund order A-1001`;
    const calls = silent.open();
    for (let said = 0; said < threads; said += AT_ONCE) {
      for (let one = said; one < Math.min(said + AT_ONCE, threads); one += 1)
        workspace.as(CAST.requester).send(CHANNELS.general, mention);
      await workspace.until(isAllAnswered, { timeoutMs: PATIENCE_MS, what: 'an answer to every event' });
    }
    return [row('the bot, every model call hangs', await atRest(bot), { calls: silent.open() - calls })];
  } finally {
    await bot.stop();
    await slack.stop();
  }
}

/** What a worker without bounds would hold: every thread in the middle of its call. */
async function unbounded(redisUrl: string, silent: SilentModel, threads: number): Promise<string[][]> {
  const file = builtFile('bench/worker/hanging-process.ts');
  const worker = await startProcess(file, [redisUrl, silent.url]);
  try {
    const before = await atRest(worker);
    const calls = silent.open();
    const ids = Array.from({ length: threads }, (_, index) => `C0123456789:1712345678.${100_000 + index}`);
    worker.child.send({ kind: 'begin', ids });
    const deadline = Date.now() + PATIENCE_MS;
    while (silent.open() - calls < threads && Date.now() < deadline) await sleep(50);
    const after = await atRest(worker);
    const growth = (after.heapBytes - before.heapBytes) / threads;
    return [
      row('the turns alone, no Slack, at rest', before),
      row('the same without bounds, every call hangs', after, { calls: silent.open() - calls, growth }),
    ];
  } finally {
    await worker.stop();
  }
}

function isAllAnswered({ deliveries }: Workspace): boolean {
  return deliveries.every(({ outcome }) => outcome.kind !== 'pending');
}

function startBotOn(
  { botToken, appToken, apiUrl }: Awaited<ReturnType<typeof startLocalSlack>>,
  redisUrl: string,
  modelUrl: string,
): Promise<MeasuredProcess> {
  const order = { botToken, appToken, apiUrl, redisUrl, modelUrl, approver: CAST.alice };
  return startBotProcess(builtFile('bench/worker/bot-process.ts'), order);
}

async function atRest(worker: MeasuredProcess): Promise<Usage> {
  await sleep(SETTLED_MS);
  // What the first collection finalises is only given back by the next.
  await worker.usage({ collect: true });
  await sleep(SETTLED_MS / 4);
  return await worker.usage({ collect: true });
}

function row(
  what: string,
  { residentBytes, heapBytes }: Usage,
  more: { readonly calls?: number; readonly growth?: number } = {},
): string[] {
  const { calls, growth } = more;
  return [
    what,
    (residentBytes / MEGABYTE).toFixed(1),
    (heapBytes / MEGABYTE).toFixed(1),
    calls === undefined ? '' : String(calls),
    growth === undefined ? '' : Math.round(growth).toLocaleString('en'),
  ];
}

interface SilentModel {
  readonly url: string;
  /** How many requests wait for an answer. */
  open(): number;
  stop(): Promise<void>;
}

async function startSilentModel(): Promise<SilentModel> {
  let open = 0;
  const server = createServer((request, response) => {
    request.resume();
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The silent model has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    open: () => open,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
