import { Keys } from '../../../src/store/record/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import type { RedisClient } from '../../../src/store/redis/run-script.ts';
import { PREFIX } from '../worker/prefix.ts';

/** Version 1 of a request had all that never changes as a field of its hash, and nothing that names what it rests on. */
const REWRITE = `
if redis.call('EXISTS', KEYS[1], KEYS[2]) < 2 then return end
redis.call('HSET', KEYS[1], 'v', '1', 'record', ARGV[1])
redis.call('HDEL', KEYS[1], 'ground', 'escalate_after')
redis.call('DEL', KEYS[2])`;

/** Leaves every request as a process of the version before would have written it. */
export async function rewriteAsOlder(client: RedisClient): Promise<void> {
  const store = openRedisStore({ client, prefix: PREFIX });
  const keys = new Keys(PREFIX);
  const found = await client.keys(`${PREFIX}*:record:*`);
  for (const requestId of found.map((key) => key.slice(key.indexOf(':record:') + ':record:'.length))) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found') continue;
    const { details, policy, execution } = loaded.request;
    const record = JSON.stringify({ v: 1, details, policy, execution });
    await client.eval(REWRITE, 2, keys.request(requestId), keys.record(requestId), record);
  }
}
