import { afterAll, beforeAll, expect, test } from 'vitest';
import { feedbackIn } from '../../src/store/documents/feedback.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

test('a person has one word about an answer, the last one, until it is erased', async () => {
  const feedback = feedbackIn(openRedisStore({ client: redis.client, prefix: redis.prefix }));
  const rated = { threadId: 'C1:17.1', answer: '1', person: 'U-ann' };
  await feedback.give({ ...rated, verdict: 'good' });
  await feedback.give({ ...rated, verdict: 'bad' });
  await feedback.give({ ...rated, person: 'U-ben', verdict: 'good' });
  expect(await feedback.erase('U-ben')).toBe(1);
  expect(await feedback.list()).toEqual([{ ...rated, verdict: 'bad' }]);
});
