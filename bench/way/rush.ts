import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { quantile } from '../support/quantiles.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from './bots.ts';
import { openStage } from './stage.ts';

/** Measures how long people wait when many approve in the same moment; Slack gives a click three seconds. */
export async function measureRush(clicks: number): Promise<Table> {
  const redis = await startPrivateRedis({ persistent: true });
  const model = await startInstantModel();
  const stage = await openStage(await ourBot());
  try {
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url });
    const { people } = stage;
    const cards = await Promise.race([
      Promise.all(Array.from({ length: clicks }, () => people.request())),
      bot.failed,
    ]);
    await people.untilQuiet();
    const times = await Promise.race([Promise.all(cards.map((card) => people.approve(card))), bot.failed]);
    const row = (name: string, values: readonly number[]) => [
      name,
      ...[0.5, 0.99, 1].map((share) => Math.round(quantile(values, share)).toLocaleString('en')),
    ];
    return {
      title: `${clicks} approvals in the same moment, one worker, Redis with its log flushed every second`,
      columns: ['from the click', 'p50 ms', 'p99 ms', 'longest ms'],
      rows: [
        row(
          'to the acknowledgement',
          times.map(({ acknowledgedMs }) => acknowledgedMs),
        ),
        row(
          'to the settled card',
          times.map(({ settledMs }) => settledMs),
        ),
        row(
          'to the final reply',
          times.map(({ replyMs }) => replyMs),
        ),
      ],
    };
  } finally {
    await stage.stop();
    model.stop();
    await redis.stop();
  }
}
