import { once } from 'node:events';
import { createServer } from 'node:http';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from '../way/bots.ts';
import { openStage, type Stage } from '../way/stage.ts';
import { memoryOf, memoryRow } from './memory-of.ts';

const AT_ONCE = 50;
const TIMEOUT_MS = 60_000;

/** Measures what the bot holds at rest, with many paused threads, and with a model that never answers. */
export async function measureMemory(threads: number): Promise<Table> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const silent = await startSilentModel();
  const [stage, hangingStage] = [await openStage(await ourBot()), await openStage(await ourBot())];
  try {
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url });
    const atRest = await memoryOf(bot);
    // Twice, because the first threads also pay for what the bot keeps from having worked at all.
    await pauseThreads(stage, threads);
    const paused = await memoryOf(bot);
    await pauseThreads(stage, threads);
    const pausedTwice = await memoryOf(bot);
    await bot.kill();
    const hanging = await hangingStage.startBot({ redisUrl: redis.url, modelUrl: silent.url });
    await sendMessages(hangingStage, threads);
    const growth = (pausedTwice.heapBytes - paused.heapBytes) / threads;
    return {
      title: `Memory of a worker after a garbage collection, ${threads.toLocaleString('en')} threads`,
      columns: ['', 'resident MB', 'heap MB', 'in a model call', 'heap per thread, bytes'],
      rows: [
        memoryRow('connected, at rest', atRest, ['', '']),
        memoryRow('all threads paused', paused, ['', '']),
        memoryRow('as many again', pausedTwice, ['', Math.round(growth).toLocaleString('en')]),
        memoryRow('new threads, no model call returns', await memoryOf(hanging), [
          String(silent.openRequests()),
          '',
        ]),
      ],
    };
  } finally {
    await stage.stop();
    await hangingStage.stop();
    model.stop();
    await silent.stop();
    await redis.stop();
  }
}

async function pauseThreads({ people }: Stage, threads: number): Promise<void> {
  for (let done = 0; done < threads; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, threads - done) }, () => people.request()));
  await people.untilQuiet();
}

async function sendMessages({ workspace }: Stage, threads: number): Promise<void> {
  const mention = `<@${workspace.state.app.botUserId}> refund order A-1001`;
  for (let sent = 0; sent < threads; sent += AT_ONCE) {
    for (let one = sent; one < Math.min(sent + AT_ONCE, threads); one += 1)
      workspace.as(CAST.requester).send(CHANNELS.general, mention);
    await workspace.until(({ deliveries }) => deliveries.every(({ outcome }) => outcome.kind !== 'pending'), {
      timeoutMs: TIMEOUT_MS,
      what: 'an acknowledgement of every event',
    });
  }
}

interface SilentModel {
  readonly url: string;
  /** The number of requests that wait for an answer. */
  openRequests(): number;
  stop(): Promise<void>;
}

async function startSilentModel(): Promise<SilentModel> {
  let openRequests = 0;
  const server = createServer((request, response) => {
    request.resume();
    openRequests += 1;
    response.on('close', () => {
      openRequests -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The silent model has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    openRequests: () => openRequests,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
