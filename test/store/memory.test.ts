import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryIn } from '../../src/store/documents/memory.ts';
import { Keys } from '../../src/store/record/keys.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

function open(name: string) {
  const [client, prefix] = [redis.client, `${redis.prefix}${name}:`];
  return { memory: memoryIn(openRedisStore({ client, prefix })), keys: new Keys(prefix), client };
}

const note = (id: string) => ({ id, text: `note ${id}`, people: ['U-ann'] });

test('a channel keeps each note once and no more than so many, also when several processes write at the same time', async () => {
  const { memory } = open('notes');
  const ids = ['a', 'b', 'a', 'c', 'd', 'b'];
  const said = await Promise.all(ids.map((id) => memory.remember('C1', note(id), 3)));
  expect(said.filter((outcome) => outcome === 'full').length).toBeGreaterThan(0);
  const kept = (await memory.recall('C1')).map(({ id }) => id);
  expect(kept).toHaveLength(3);
  expect(new Set(kept).size).toBe(3);
  expect(await memory.remember('C1', note(kept[0] ?? ''), 3)).toBe('remembered');
  await memory.forget('C1', kept[0] ?? '');
  expect((await memory.listNotes()).map(({ channel, id }) => `${channel} ${id}`)).toEqual(
    kept.slice(1).map((id) => `C1 ${id}`),
  );
});

test('notes that are read are kept longer, and those that ended are not listed any more', async () => {
  const { memory, keys, client } = open('ended');
  await memory.remember('C1', note('a'), 3);
  const key = keys.document('notes|C1');
  await client.pexpire(key, 60_000);
  expect(await memory.recall('C1')).toMatchObject([note('a')]);
  expect(await client.pttl(key)).toBeGreaterThan(60_000);
  await client.del(key);
  expect(await memory.listNotes()).toEqual([]);
  expect(await client.zcard(keys.shared('documents'))).toBe(0);
});

test('a person has one word about an answer, the last one, until it is erased', async () => {
  const { memory } = open('feedback');
  const rated = { threadId: 'C1:17.1', answer: '1', person: 'U-ann' };
  await memory.giveFeedback({ ...rated, verdict: 'good' });
  await memory.giveFeedback({ ...rated, verdict: 'bad' });
  await memory.giveFeedback({ ...rated, person: 'U-ben', verdict: 'good' });
  expect(await memory.eraseFeedback('U-ben')).toBe(1);
  expect(await memory.listFeedback()).toEqual([{ ...rated, verdict: 'bad' }]);
});
