import { expect, test } from 'vitest';
import { connectTestRedis } from '../../support/redis.ts';

test('tests share one Redis without seeing each other, and leave no keys', async () => {
  const mine = connectTestRedis();
  const theirs = connectTestRedis();
  await mine.client.set(`{slot}:${mine.prefix}key`, 'mine');
  await theirs.client.set(`${theirs.prefix}key`, 'theirs');
  await mine.close();
  expect(await theirs.client.keys(`*${mine.prefix}*`)).toEqual([]);
  expect(await theirs.client.get(`${theirs.prefix}key`)).toBe('theirs');
  await theirs.close();
});
