import { Cluster } from 'ioredis';
import { keyStart } from '../../src/store/port/keys.ts';
import type { RedisClient } from '../../src/store/redis/run-script.ts';

/** Every key of a record with all that it holds, read in one step on each node. */
const READ_ALL = `
local all = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local kind = redis.call('TYPE', key).ok
  local value
  if kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'stream' then value = redis.call('XRANGE', key, '-', '+')
  else value = redis.call('GET', key) end
  all[#all + 1] = { key, kind, value }
end
return all`;

type Reply = string | readonly Reply[];
export type Snapshot = Readonly<Record<string, Reply>>;

/** All that is on record under a prefix, by key without the prefix; hashes in the order of their fields' names. */
export async function snapshotOf(client: RedisClient, prefix: string): Promise<Snapshot> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const replies = await Promise.all(nodes.map((node) => node.eval(READ_ALL, 0, `${keyStart(prefix)}*`)));
  const entries = replies.flatMap((reply) => asList(asReply(reply)).map(entryOf(keyStart(prefix))));
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function entryOf(start: string): (row: Reply) => [string, Reply] {
  return (row) => {
    const [key = '', kind = '', value = ''] = asList(row);
    return [String(key).slice(start.length), kind === 'hash' ? sortPairs(asList(value)) : value];
  };
}

function sortPairs(flat: readonly Reply[]): Reply {
  return flat
    .flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []))
    .sort(([left = ''], [right = '']) => (left < right ? -1 : 1));
}

/** Two records that came about in the same way differ only in these: times, random ids and the hashes over them. */
export function withoutChance(snapshot: Snapshot): string {
  return JSON.stringify(snapshot, null, 1)
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>')
    .replace(/\b[0-9a-f]{40}\b/g, '<hash>')
    .replace(/\b1\d{12}\b/g, '<time>');
}

function asReply(value: unknown): Reply {
  if (Array.isArray(value)) return value.map(asReply);
  return String(value);
}

function asList(reply: Reply): readonly Reply[] {
  return typeof reply === 'string' ? [] : reply;
}
