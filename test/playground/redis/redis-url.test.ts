import { expect, inject, test } from 'vitest';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import { messageOf } from '../install/stand-ins.ts';
import { answers, bringUpForTest } from './private-server.ts';

test('a Redis named by REDIS_URL is used as it is and outlives stop', async () => {
  const env = { REDIS_URL: inject('redisUrl'), PATH: '' };
  const redis = await bringUpForTest({ env });
  expect(redis).toMatchObject({ url: env.REDIS_URL, source: 'REDIS_URL' });
  await redis.stop();
  expect(await answers(env.REDIS_URL)).toBe(true);
});

test('an empty REDIS_URL counts as none', async () => {
  const redis = await bringUpForTest({ env: { ...process.env, REDIS_URL: '' } });
  expect(redis.source).toBe('started');
});

test('an unreachable REDIS_URL is one sentence without its credentials', async () => {
  const port = await findFreePort();
  const env = { REDIS_URL: `redis://alice:open-sesame@127.0.0.1:${port}/0` };
  const message = await messageOf(bringUpForTest({ env }));
  expect(message).toMatch(
    new RegExp(
      `^The Redis at 127\\.0\\.0\\.1:${port}, named by REDIS_URL, did not answer a PING \\(ECONNREFUSED\\); .*\\.$`,
    ),
  );
  expect(message).not.toMatch(/alice|open-sesame/);
});

test('a refused password is reported and not shown', async () => {
  const redis = await bringUpForTest({});
  await askRedis(redis.url, (client) => client.config('SET', 'requirepass', 'right-password'));
  const env = { REDIS_URL: redis.url.replace('redis://', 'redis://:wrong-password@') };
  const message = await messageOf(bringUpForTest({ env }));
  expect(message).toContain('did not answer a PING (WRONGPASS)');
  expect(message).not.toContain('wrong-password');
});

test('a REDIS_URL that is no Redis URL is refused without being shown', async () => {
  for (const url of ['open-sesame', 'https://alice:open-sesame@example.com', 'redis://']) {
    const message = await messageOf(bringUpForTest({ env: { REDIS_URL: url } }));
    expect(message).toMatch(/^REDIS_URL is not a URL of the form redis:\/\/host:port/);
    expect(message).not.toContain('open-sesame');
  }
});
