import { expect, inject, test } from 'vitest';
import { Keys } from '../../src/store/port/keys.ts';
import { run } from '../commands/support.ts';
import { startStory } from './support.ts';

const NEWER =
  'The record in Redis was written by a later version of Countersign (2; this one knows 1). Bring this process up to date.';

test('a new record is marked with its version, and a bot starts on it again', async () => {
  const story = await startStory({ withoutBot: true });
  const head = new Keys(story.prefix).shared('head');
  expect(await story.redis.exists(head)).toBe(0);
  await story.startOwnBot();
  expect(await story.redis.hget(head, 'record')).toBe('1');
  await story.startOwnBot();
  expect(await story.redis.hget(head, 'record')).toBe('1');
});

test('a bot does not start on the record of a later version, changes nothing in it, and the doctor says so', async () => {
  const story = await startStory({ withoutBot: true });
  const { prefix, redis } = story;
  await redis.hset(new Keys(prefix).shared('head'), 'record', '2');
  await expect(story.startOwnBot()).rejects.toThrow(NEWER);
  expect(await redis.keys(`{${prefix}}:*`)).toEqual([new Keys(prefix).shared('head')]);
  expect(await redis.hgetall(new Keys(prefix).shared('head'))).toEqual({ record: '2' });
  const { out } = await run(['doctor', '--without-tools'], { REDIS_URL: inject('redisUrl') }, prefix);
  expect(out).toContain(NEWER);
});
