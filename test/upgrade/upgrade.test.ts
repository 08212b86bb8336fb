import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run as runCommand } from '../commands/support.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { KINDS } from './kinds.ts';
import { installReleases, type Release, type Releases } from './releases.ts';
import { type Running, startWorld } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-upgrade-'));
afterAll(() => rmSync(folder, { recursive: true }));
let releases: Releases;
beforeAll(async () => {
  releases = await installReleases(folder);
});

test('old alone, both, new alone, both, old alone: what one release wrote the other ends, once, also after a kill', async () => {
  const only = process.env.COUNTERSIGN_KINDS?.split(',');
  const kinds = Object.entries(KINDS).filter(([name]) => only?.includes(name) ?? true);
  const world = await startWorld();
  const { older, newer } = releases;
  let ended = 0;
  /** Writes a record of each kind, lets the bots change, and ends each. */
  const across = async (bot: Running, change: () => Promise<Running>): Promise<Running> => {
    const begun = await Promise.all(
      kinds.map(async ([name, begin]) => {
        const finish = await named(name, begin(world, bot));
        return (after: Running) => named(name, finish(after));
      }),
    );
    const after = await change();
    await Promise.all(begun.map((finish) => finish(after)));
    ended += begun.length;
    return after;
  };
  const comes = (release: Release) => () => world.start(release);
  const goes = (gone: Running, stays: Running) => async () => {
    await gone.kill();
    return stays;
  };

  const first = await world.start(older);
  const second = await across(first, comes(newer));
  await across(first, goes(first, second));
  const third = await across(second, comes(older));
  await across(second, goes(second, third));
  // One goes and the other comes at once, without a time in which both run.
  const fourth = await across(third, async () => {
    await third.kill();
    return world.start(newer);
  });
  await across(fourth, async () => {
    await fourth.kill();
    return world.start(older);
  });

  await world.deliveredAll();
  const store = openRedisStore({ client: world.redis, prefix: world.prefix });
  const pending = await runCommand(['pending', '--json'], { REDIS_URL: inject('redisUrl') }, world.prefix);
  expect(pending).toEqual({ code: 0, out: '', error: '' });
  expect((await verifyChain(store)).problems).toEqual([]);
  process.stdout.write(`${kinds.length} kinds of record, 6 changes of release, 4 kills: ${ended} ended\n`);
});

test('a backup of the older release is restored for the newer one, and one of the newer for the older', async () => {
  const world = await startWorld();
  const { older, newer } = releases;
  const restorable = Object.entries(KINDS).filter(([name]) => !name.startsWith('a caller'));
  for (const [before, after] of [
    [older, newer],
    [newer, older],
  ] as const) {
    let data = '';
    const saved = await startPrivateRedis((place) => {
      data = place.folder;
      return plainArguments(place);
    });
    onTestFinished(() => saved.stop());
    const bot = await world.start(before, saved.url);
    const begun = await Promise.all(restorable.map(([name, begin]) => named(name, begin(world, bot))));
    const client = new Redis(saved.url);
    await client.save();
    client.disconnect();
    await bot.kill();
    const restored = await startPrivateRedis((place) => {
      copyFileSync(join(data, 'dump.rdb'), join(place.folder, 'dump.rdb'));
      return plainArguments(place);
    });
    onTestFinished(() => restored.stop());
    await saved.stop();
    const other = await world.start(after, restored.url);
    await Promise.all(begun.map((finish, index) => named(restorable[index]?.[0] ?? '', finish(other))));
    await other.kill();
  }
});

async function named<Value>(name: string, work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  });
}
