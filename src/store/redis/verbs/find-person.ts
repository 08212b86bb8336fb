import { Cluster } from 'ioredis';
import type { RedisClient } from '../run-script.ts';

/** The threads that a person wrote in, and the requests that they made, decided or are named in. */
export interface PersonTraces {
  readonly threads: readonly string[];
  readonly requests: readonly string[];
}

const PAGE = 500;

/** Finds everything that names a person, by reading the whole record; being one of the approvers is no mention. */
export async function findPerson(client: RedisClient, prefix: string, person: string): Promise<PersonTraces> {
  const threads = new Set<string>();
  const requests = new Set<string>();
  for await (const key of keysOf(client, prefix)) {
    const [, kind, id] = /^\{\d+\}:(log|inbox|request|record):(.+)$/.exec(key.slice(prefix.length)) ?? [];
    if (id === undefined) continue;
    if (kind === 'log' || kind === 'inbox') {
      if ((await client.lrange(key, 0, -1)).some((row) => row.includes(`"${person}"`))) threads.add(id);
    } else if (kind === 'record') {
      if ((await client.get(key))?.includes(person) === true) requests.add(id);
    } else if (isNamedIn(await client.hgetall(key), person)) requests.add(id);
  }
  return { threads: [...threads], requests: [...requests] };
}

function isNamedIn(fields: Readonly<Record<string, string>>, person: string): boolean {
  const { requester = '', requesters = '', by = '', payload = '' } = fields;
  return (
    [requester, by, ...requesters.split(' ')].includes(person) ||
    payload.includes(person) ||
    fields[`vote:${person}`] !== undefined
  );
}

async function* keysOf(client: RedisClient, prefix: string): AsyncGenerator<string> {
  const match = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}{*`;
  for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', match, 'COUNT', PAGE);
      yield* keys;
      cursor = next;
    } while (cursor !== '0');
  }
}
