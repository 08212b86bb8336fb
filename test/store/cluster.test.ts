import { Cluster } from 'ioredis';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { describeStore } from './suite/suite.ts';

describeStore('the store on a Redis Cluster of three nodes', async () => {
  const cluster = await startRedisCluster(3);
  const client = new Cluster([...cluster.nodes]);
  return {
    client,
    prefix: 'test:',
    async close() {
      await client.quit();
      await cluster.stop();
    },
  };
});
