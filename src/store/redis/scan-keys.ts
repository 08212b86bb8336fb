import { Cluster } from 'ioredis';
import { keyStart } from '../port/keys.ts';
import type { RedisClient } from './run-script.ts';

/** A key of the record that belongs to one thread or request. */
interface RecordKey {
  readonly key: string;
  readonly kind: string;
  readonly id: string;
}

const PAGE = 500;

/** Reads through all keys of threads and requests, on every node; a key may come twice. */
export async function* scanKeys(client: RedisClient, prefix: string): AsyncGenerator<RecordKey> {
  const start = keyStart(prefix);
  const match = `${start.replace(/[*?[\]\\]/g, '\\$&')}*`;
  for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', match, 'COUNT', PAGE);
      for (const key of keys) {
        const [, kind, id] = /^(\w+):(.+)$/.exec(key.slice(start.length)) ?? [];
        if (kind !== undefined && id !== undefined) yield { key, kind, id };
      }
      cursor = next;
    } while (cursor !== '0');
  }
}
