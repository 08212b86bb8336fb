import type { Keys } from '../../port/keys.ts';
import type { RedisClient } from '../run-script.ts';
import { scanKeys } from '../scan-keys.ts';

const PAGE = 500;

/** The threads that a person wrote in, the requests and grants that they made, decided or are named in, and the messages that wait to be sent. */
export interface PersonTraces {
  readonly threads: readonly string[];
  readonly requests: readonly string[];
  readonly grants: readonly string[];
  /** The keys of the person's own counters, and what single calls have counted there: a key with a field. */
  readonly counters: readonly string[];
  readonly counted: readonly (readonly [key: string, field: string])[];
  /** The ids of rows in the outbox. */
  readonly messages: readonly string[];
}

/** True for a text that names the person. */
export type NamesPerson = (text: string) => boolean;

/** Recognizes a person by the id and by names; each must stand alone, so that "Ann" is not found in "Annex". */
export function namesPerson(person: string, names: readonly string[] = []): NamesPerson {
  const words = [person, ...names].map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'u');
  return (text) => pattern.test(text);
}

/** Finds everything that names a person, by reading the whole record; being one of the approvers is no mention. */
export async function findPerson(
  client: RedisClient,
  { prefix, keys, person, isNamed, isCounter }: FindPersonOptions,
): Promise<PersonTraces> {
  const threads = new Set<string>();
  const requests = new Set<string>();
  const grants = new Set<string>();
  const counters = new Set<string>();
  const counted: [string, string][] = [];
  const messages: string[] = [];
  for await (const { key, kind, id } of scanKeys(client, prefix)) {
    if (kind === 'log' || kind === 'inbox') {
      if ((await client.lrange(key, 0, -1)).some(isNamed)) threads.add(id);
    } else if (kind === 'record') {
      if (isNamed((await client.get(key)) ?? '')) requests.add(id);
    } else if (kind === 'limit') {
      if (isCounter(id)) counters.add(key);
    } else if (kind === 'counted') {
      for (const field of await client.hkeys(key)) if (isCounter(field)) counted.push([key, field]);
    } else if ((kind === 'ask' || kind === 'run') && isIn(await client.hgetall(key), person, isNamed))
      requests.add(id);
  }
  for (const [name, value] of Object.entries(await client.hgetall(keys.shared('grants')))) {
    const [, kind, id = ''] = /^(grant|revoked)\|(.*)$/.exec(name) ?? [];
    const { principals, groups, ...others } = kind === 'grant' ? JSON.parse(value.replace(/^[^{]*/, '')) : {};
    if (kind !== undefined && isNamed(kind === 'grant' ? JSON.stringify(others) : value)) grants.add(id);
  }
  for (const [id, row] of Object.entries(await client.hgetall(keys.shared('rows'))))
    if (isNamed(row)) messages.push(id);
  // A step is removed with its plan.
  const whole = [...requests].map(async (id) => (await client.hget(keys.run(id), 'plan')) ?? id);
  return {
    threads: [...threads],
    requests: [...new Set(await Promise.all(whole))],
    grants: [...grants],
    messages,
    counters: [...counters],
    counted,
  };
}

/** Removes counters, each of which stands alone: what they counted counts as never done. */
export async function removeCounters(
  client: RedisClient,
  { counters, counted }: Pick<PersonTraces, 'counters' | 'counted'>,
): Promise<void> {
  for (const [key, field] of counted) await client.hdel(key, field);
  for (let from = 0; from < counters.length; from += PAGE)
    await client.unlink(...counters.slice(from, from + PAGE));
}

export interface FindPersonOptions {
  readonly prefix: string;
  readonly keys: Keys;
  readonly person: string;
  readonly isNamed: NamesPerson;
  /** Recognizes the names of the person's own counters. */
  readonly isCounter: (name: string) => boolean;
}

function isIn(fields: Readonly<Record<string, string>>, person: string, isNamed: NamesPerson): boolean {
  const { requester = '', requesters = '', by = '', payload = '' } = fields;
  const isRepresented = Object.entries(fields).some(
    ([name, value]) => name.startsWith('for:') && value === person,
  );
  return (
    isRepresented ||
    [requester, by, ...requesters.split(' ')].includes(person) ||
    isNamed(payload) ||
    fields[`vote:${person}`] !== undefined
  );
}
