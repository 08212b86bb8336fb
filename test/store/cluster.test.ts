import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Keys } from '../../src/store/port/keys.ts';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { describeStore } from './suite/suite.ts';
import { approve, ask, attempt, outcome, stateOf } from './support.ts';

describeStore('the store on a Redis Cluster of three nodes', async () => {
  const cluster = await startRedisCluster(3);
  const client = new Cluster([...cluster.nodes]);
  return {
    client,
    prefix: 'test',
    async close() {
      await client.quit();
      await cluster.stop();
    },
  };
});

describe('two workspaces on a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await startRedisCluster(3);
    client = new Cluster([...cluster.nodes]);
  });
  afterAll(async () => {
    await client.quit();
    await cluster.stop();
  });

  /** The ports of the nodes that hold keys of a workspace. */
  async function nodesOf(prefix: string): Promise<(number | undefined)[]> {
    const start = new Keys(prefix).shared('audit').replace(/audit$/, '*');
    const holders = await Promise.all(
      client.nodes('master').map(async (node) => ((await node.keys(start)).length > 0 ? [node] : [])),
    );
    return holders.flat().map(({ options }) => options.port);
  }

  test('lie on different nodes, each on one, and see nothing of each other', async () => {
    const prefixes = ['acme', 'umbrella'];
    const stores = prefixes.map((prefix) => openRedisStore({ client, prefix }));
    const ids = await Promise.all(
      stores.map(async (store) => {
        const id = await ask(store);
        await store.vote(id, approve('U-ann'), attempt('first'));
        await store.finish(id, outcome('first'), 60_000);
        return id;
      }),
    );
    const [first = [], second = []] = await Promise.all(prefixes.map(nodesOf));
    expect(first).toHaveLength(1);
    expect(second).toHaveLength(1);
    expect(first).not.toEqual(second);
    for (const [index, store] of nonEmpty(stores.entries())) {
      expect(await stateOf(store, ids[index] ?? '')).toBe('succeeded');
      expect(await store.load(ids[1 - index] ?? '')).toEqual({ outcome: 'unknown' });
      expect((await store.list('asked', ['U-rita'], { limit: 9 })).requestIds).toEqual([ids[index]]);
      expect((await verifyChain(store)).problems).toEqual([]);
    }
  });
});
