import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type DelegationEnd,
  delegationsIn,
  type NewDelegation,
  readDelegations,
} from '../../src/store/documents/delegations.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { MINUTE_MS } from './support.ts';

let redis: TestRedis;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

const delegation = (changes: Partial<NewDelegation> = {}): NewDelegation => ({
  ...{ id: 'd-1', from: 'U-ann', to: 'U-dan', until: Date.now() + MINUTE_MS, reason: 'a\nb', evidence: {} },
  ...changes,
});
const ending = (changes: Partial<DelegationEnd> = {}): DelegationEnd => ({
  ...{ from: 'U-ann', id: 'click-1', who: 'U-ann', isAdmin: false, evidence: {}, ...changes },
});

let opened = 0;
function openStore(): Store {
  opened += 1;
  return openRedisStore({ client: redis.client, prefix: `${redis.prefix}${opened}` });
}

async function idsOf(store: Store): Promise<readonly string[]> {
  return (await readDelegations(store)).map(({ id }) => id);
}

async function rowsOf(store: Store): Promise<readonly string[]> {
  const rows: string[] = [];
  for await (const { event, detail } of store.exportAudit()) rows.push(`${event} ${detail}`);
  return rows;
}

describe('a delegation', () => {
  test('is read as it was given, takes the place of the one before, and is entered once', async () => {
    const store = openStore();
    const { delegate } = delegationsIn(store);
    expect(await delegate(delegation())).toBe('delegated');
    expect(await delegate(delegation())).toBe('delegated');
    await delegate(delegation({ id: 'd-2', from: 'U-ben' }));
    const later = delegation({ id: 'd-3', to: 'U-eve', until: Date.now() + 2 * MINUTE_MS });
    await delegate(later);
    const { evidence, ...given } = later;
    expect(await readDelegations(store)).toMatchObject([{ id: 'd-2', from: 'U-ben', reason: 'a\nb' }, given]);
    expect((await rowsOf(store)).map((row) => row.split(' until')[0])).toEqual([
      'delegated d-1 U-dan',
      'delegated d-2 U-dan',
      'delegated d-3 U-eve',
    ]);
  });

  test('whose time is over is not entered, and is not listed', async () => {
    const store = openStore();
    const { delegate } = delegationsIn(store);
    expect(await delegate(delegation({ until: Date.now() - 1 }))).toBe('over');
    await delegate(delegation({ until: Date.now() + 20 }));
    await expect.poll(() => idsOf(store)).toEqual([]);
    expect(await delegationsIn(store).end(ending())).toBe('none');
  });

  test('ends once, by one of its two people or an admin, and as it was shown', async () => {
    const store = openStore();
    const { delegate, end } = delegationsIn(store);
    expect(await end(ending())).toBe('none');
    await delegate(delegation());
    expect(await end(ending({ shown: 'd-0' }))).toBe('none');
    expect(await end(ending({ who: 'U-eve' }))).toBe('not-eligible');
    expect(await idsOf(store)).toEqual(['d-1']);
    expect(await end(ending({ who: 'U-eve', isAdmin: true }))).toBe('ended');
    expect(await end(ending({ who: 'U-eve', isAdmin: true }))).toBe('ended');
    expect(await idsOf(store)).toEqual([]);
    await delegate(delegation({ id: 'd-2' }));
    expect(await end(ending({ id: 'click-2', who: 'U-dan', shown: 'd-2' }))).toBe('ended');
    expect((await rowsOf(store)).filter((row) => row.startsWith('delegation-ended'))).toEqual([
      'delegation-ended d-1 U-eve',
      'delegation-ended d-2 U-dan',
    ]);
  });

  test('is not lost when many are given at a time', async () => {
    const store = openStore();
    const people = Array.from({ length: 12 }, (_, index) => `U-${index}`);
    const { delegate } = delegationsIn(store);
    await Promise.all(people.map((from) => delegate(delegation({ id: `d-${from}`, from }))));
    expect((await readDelegations(store)).map(({ from }) => from).sort()).toEqual(people.sort());
  });
});
