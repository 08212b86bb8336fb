import { describe, expect, test } from 'vitest';
import type { RecordedRequest } from '../../../playground/record-protocol.ts';
import { approve, ask, askAndLose, reject } from '../../store/support.ts';
import { useRecord } from './support.ts';

const record = useRecord();
// Two requests of one millisecond have no order among them.
const statesOf = (requests: readonly RecordedRequest[]): Readonly<Record<string, string>> =>
  Object.fromEntries(requests.map(({ id, state }) => [id, state]));

describe('all requests', () => {
  test('those of every thread are listed, oldest first', async () => {
    const { store, reader } = record();
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1) ids.push(await ask(store));
    const listed = await reader.allRequests();
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
    const ages = listed.map(({ createdAt }) => createdAt);
    expect(ages).toEqual([...ages].sort((left, right) => left - right));
  });

  test('an empty record has none', async () => {
    expect(await record().reader.allRequests()).toEqual([]);
  });

  test('new and changed requests are listed', async () => {
    const { store, reader } = record();
    const first = await ask(store, { policy: { quorum: 2 } });
    expect(statesOf(await reader.allRequests())).toEqual({ [first]: 'pending' });
    await store.vote(first, approve('U-ann'));
    expect(await reader.allRequests()).toMatchObject([{ id: first, votes: [{ who: 'U-ann' }] }]);
    await store.vote(first, reject('U-ben'));
    const second = await askAndLose(store);
    expect(statesOf(await reader.allRequests())).toEqual({ [first]: 'rejected', [second]: 'unknown' });
    await store.resolve(second, { who: 'U-ops', eligible: true, evidence: {} }, 'ran', 'seen it');
    expect(statesOf(await reader.allRequests())).toEqual({ [first]: 'rejected', [second]: 'resolved' });
  });

  test('a change that leaves no row, such as progress, is seen as well', async () => {
    const { store, reader, redis, keys } = record();
    const id = await ask(store);
    await reader.allRequests();
    await redis.client.hset(keys.run(id), 'progress', 'half');
    expect(await reader.allRequests()).toMatchObject([{ id, progress: 'half' }]);
  });

  test('a settled request is not asked for again', async () => {
    const { store, reader, redis, keys } = record();
    const [settled, open] = [await ask(store), await ask(store)];
    await store.vote(settled, reject('U-ben'));
    await reader.allRequests();
    await redis.client.del(keys.ask(settled), keys.ask(open));
    expect(statesOf(await reader.allRequests())).toEqual({ [settled]: 'rejected' });
  });

  test('concurrent reads lose nothing', async () => {
    const { store, reader } = record();
    const first = await ask(store);
    const looking = reader.allRequests();
    const second = await ask(store);
    const [, both] = await Promise.all([looking, reader.allRequests()]);
    const expected = { [first]: 'pending', [second]: 'pending' };
    expect(statesOf(both)).toEqual(expected);
    expect(statesOf(await reader.allRequests())).toEqual(expected);
  });
});
