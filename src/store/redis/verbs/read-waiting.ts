import { DEFAULT_PREFIX, Keys } from '../../port/keys.ts';
import type { RedisClient } from '../run-script.ts';

const PAGE = 500;

/** Yields every request that waits for people, a page at a time, each request once. */
export async function* readWaiting(client: RedisClient, prefix = DEFAULT_PREFIX): AsyncGenerator<string> {
  const waiting = new Keys(prefix).shared('waiting');
  // An entry is `person time request`, so a request that waits for several people has several entries.
  const seen = new Set<string>();
  for (let after = '-'; ; ) {
    const page = await client.zrangebylex(waiting, after, '+', 'LIMIT', 0, PAGE);
    for (const entry of page) {
      const requestId = entry.slice(entry.lastIndexOf(' ') + 1);
      if (seen.has(requestId)) continue;
      seen.add(requestId);
      yield requestId;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = `(${last}`;
  }
}
