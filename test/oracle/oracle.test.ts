import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { loadScripts } from '../../src/store/redis/scripts.ts';
import { countFor } from '../support/count-for.ts';
import { connectTestRedis } from '../support/redis.ts';
import { seed } from '../support/seed.ts';
import { type Composition, composition } from './compositions.ts';
import { play, type Tally } from './play.ts';

const COUNT = countFor('ORACLE', { quick: 60, full: 400 });
/** So many compositions are drawn and kept in Redis together, and so many are played at a time, each on a record of its own. */
const BATCH = 500;
const AT_ONCE = 16;
const scripts = loadScripts();

/** Plays compositions, and lists those in which the bot did something else than the oracle says. */
async function playAll(compositions: readonly Composition[], tally: Tally): Promise<readonly string[]> {
  const redis = connectTestRedis();
  const differences: string[] = [];
  const waiting = [...compositions.entries()];
  const playNext = async (): Promise<void> => {
    const [index, drawn] = waiting.shift() ?? [];
    if (drawn === undefined) return;
    const store = openRedisStore({ client: redis.client, prefix: `${redis.prefix}${index}:`, scripts });
    await play(drawn, store, tally).catch((error: unknown) =>
      differences.push(`${String(error)}: ${JSON.stringify(drawn)}`),
    );
    return playNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, playNext));
  await redis.close();
  return differences;
}

test(`in ${COUNT} random compositions the bot does with each call what an oracle of the promises says`, async () => {
  const tally: Tally = { denied: 0, free: 0, asked: 0, granted: 0, approved: 0, proven: 0 };
  for (let played = 0; played < COUNT; played += BATCH) {
    const numRuns = Math.min(BATCH, COUNT - played);
    const drawn = fc.sample(composition, { numRuns, seed: seed + played });
    expect(await playAll(drawn, tally)).toEqual([]);
    if (COUNT > BATCH) process.stderr.write(`${played + numRuns} played: ${JSON.stringify(tally)}\n`);
  }
  expect(tally.proven).toBeGreaterThan(0);
  // Otherwise the oracle was asked nothing; few compositions may leave one out.
  if (COUNT >= BATCH) expect(Object.values(tally).every((count) => count > 0)).toBe(true);
});
