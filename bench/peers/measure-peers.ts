import { fileURLToPath } from 'node:url';
import { builtFile } from '../support/built-file.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import type { Table } from '../support/table.ts';
import { compareToFloor, type TurnsPace } from '../turns/measure-turns.ts';
import { type RaceSetting, type Runner, race, startCrew, stopCrew } from '../turns/race.ts';

/** Measures P and R by the floor, by us and by the peers, in alternation. */
export async function measurePeers({ warmUps, rounds }: TurnsPace): Promise<Table[]> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const ours = builtFile('bench/turns/worker-process.ts');
  const peer = (file: string) => fileURLToPath(new URL(file, import.meta.url));
  const [floor, our] = [await startCrew(ours), await startCrew(ours)];
  const aiSdk = await startCrew(peer('./ai-sdk-worker.mjs'));
  const genkit = await startCrew(peer('./genkit-worker.mjs'));
  const runners: Runner[] = [
    { name: 'floor', side: 'floor', crew: floor },
    { name: 'ours', side: 'ours', crew: our },
    { name: 'AI SDK 6, state by hand', side: 'floor', crew: aiSdk },
    { name: 'Genkit 1.42, state by hand', side: 'floor', crew: genkit },
    { name: 'floor, not streaming', side: 'whole', crew: floor },
    { name: 'AI SDK 6, not streaming', side: 'whole', crew: aiSdk },
    { name: 'Genkit 1.42, not streaming', side: 'whole', crew: genkit },
  ];
  const servers = { redisUrl: redis.url, modelUrl: model.url };
  const measure = async (title: string, setting: RaceSetting) =>
    compareToFloor(title, runners, await race(runners, servers, setting));
  try {
    await race(runners, servers, { messages: 0, atOnce: 1, batch: warmUps, rounds: 1 });
    return [
      await measure('The same P and R by others, history of 10 messages', {
        messages: 10,
        atOnce: 1,
        batch: 20,
        rounds,
      }),
      await measure('The same with a history of 1,000 messages', {
        messages: 1_000,
        atOnce: 1,
        batch: 5,
        rounds: Math.ceil(rounds / 2),
      }),
      await measure('The same, 50 at once in one worker process, history of 10 messages', {
        messages: 10,
        atOnce: 50,
        batch: 300,
        rounds: Math.ceil(rounds / 4),
      }),
    ];
  } finally {
    for (const crew of [floor, our, aiSdk, genkit]) stopCrew(crew);
    model.stop();
    await redis.stop();
  }
}
