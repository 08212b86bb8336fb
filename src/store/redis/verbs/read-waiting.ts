import { Keys, SHARDS } from '../../record/keys.ts';
import type { RedisClient } from '../run-script.ts';

const PAGE = 500;

/** Yields every request that waits for people: shard by shard, a page at a time, each request once. */
export async function* readWaiting(client: RedisClient, prefix = 'countersign:'): AsyncGenerator<string> {
  const keys = new Keys(prefix);
  for (let shard = 0; shard < SHARDS; shard += 1) {
    // An entry is `person time request`, so a request that waits for several people has several entries, all in one shard.
    const seen = new Set<string>();
    for (let after = '-'; ; ) {
      const page = await client.zrangebylex(keys.shard(shard, 'waiting'), after, '+', 'LIMIT', 0, PAGE);
      for (const entry of page) {
        const requestId = entry.slice(entry.lastIndexOf(' ') + 1);
        if (seen.has(requestId)) continue;
        seen.add(requestId);
        yield requestId;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = `(${last}`;
    }
  }
}
