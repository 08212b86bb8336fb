import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bringUpRedis } from '../../../playground/redis/bring-up-redis.ts';
import { Keys } from '../../../src/store/port/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { loadScripts } from '../../../src/store/redis/scripts.ts';
import { countFor } from '../../support/count-for.ts';
import { type RedisProxy, startRedisProxy } from '../../support/redis-proxy.ts';
import { snapshotOf, withoutChance } from '../records-snapshot.ts';
import { CHAPTERS, type Telling } from './story.ts';

const ROUNDS = countFor('LOST_REPLY_ROUNDS', { quick: 2, full: 15 });

const scripts = loadScripts();
// Of its own, because the server's own count of scripts is part of what is shown.
let server: Awaited<ReturnType<typeof bringUpRedis>>;
let proxy: RedisProxy;
let direct: Redis;
let cut: Redis;

beforeAll(async () => {
  server = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  proxy = await startRedisProxy(server.url);
  direct = new Redis(server.url);
  cut = new Redis(proxy.url, {
    retryStrategy: () => 0,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  });
  for (const { text } of Object.values(scripts)) await direct.script('LOAD', text);
});

afterAll(async () => {
  direct.disconnect();
  cut.disconnect();
  await proxy.stop();
  await server.stop();
});

function tell(client: Redis, prefix: string, threadId: string): Telling {
  const keys = new Keys(prefix);
  const retention = () => ({ requestMs: 0, threadMs: 0 });
  return {
    store: openRedisStore({ client, prefix, scripts, retention }),
    threadId,
    hasten: async (timer) => {
      await direct.zadd(keys.shared('timers'), 'XX', 0, timer);
    },
    spoilRow: async (rowId) => {
      await direct.hset(`{${prefix}}:rows`, rowId, 'not json');
    },
    spoil: async () => {
      await direct.rpush(keys.log(threadId), 'not json');
    },
  };
}

async function scriptsRun(): Promise<number> {
  const stats = await direct.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function expectSameRecord(where: string): Promise<void> {
  const [whole, lossy] = await Promise.all([snapshotOf(direct, 'whole:'), snapshotOf(direct, 'lossy:')]);
  expect(withoutChance(lossy), where).toBe(withoutChance(whole));
}

test('the story uses every script', () => {
  const used = new Set(CHAPTERS.flat().map(({ script }) => script));
  expect([...used].sort()).toEqual(Object.keys(scripts).sort());
});

test(`whatever reply is lost, nothing happens twice (${ROUNDS} rounds of ${CHAPTERS.flat().length} calls)`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await direct.flushall();
    const whole = tell(direct, 'whole:', `T-${round}`);
    const lossy = tell(cut, 'lossy:', `T-${round}`);
    for (const chapter of CHAPTERS) {
      for (const { script, prepare, call, again, after = 0 } of chapter) {
        const where = `round ${round}: ${script}`;
        await prepare?.(whole);
        const expected = await call(whole);
        await prepare?.(lossy);
        const [lostBefore, runBefore] = [proxy.lost, await scriptsRun()];
        proxy.cutNext({ after });
        const said = await call(lossy);
        expect(proxy.lost - lostBefore, where).toBe(1);
        expect(proxy.lastLost, where).not.toMatch(/^-/);
        expect((await scriptsRun()) - runBefore, where).toBe(after + 2);
        expect(said, where).toEqual(again ?? expected);
        // Afterwards once a chapter: what happened twice does not vanish within one.
        if (round < 3) await expectSameRecord(where);
      }
      await expectSameRecord(`round ${round}`);
    }
  }
});
