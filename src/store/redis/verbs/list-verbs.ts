import type { Page, PageOptions, QuarantinedThread, Store } from '../../port/store.ts';
import { type Keys, SHARDS } from '../../record/keys.ts';
import type { RedisClient } from '../run-script.ts';

type ListVerbs = Pick<
  Store,
  'listWaiting' | 'listAsked' | 'listDecided' | 'countPending' | 'listQuarantined'
>;
type Index = 'waiting' | 'asked' | 'decided';

/** The newest requests of a person that are counted in each shard, so that a count costs no more after years of use. */
const NEWEST_COUNTED = 32;

interface Entry {
  readonly position: string;
  readonly requestId: string;
}

/** One person's entries in one shard, newest first, read as far as a page needs. */
interface Range {
  readonly key: string;
  readonly person: string;
  readonly entries: Entry[];
  isAtEnd: boolean;
}

/**
 * The lists of App Home, and a count over one of them. An entry is `person time request`, so that a page is a range of an index. A
 * page reads a few entries of every shard first, and more only from the shards that may have more.
 */
export function listVerbs(client: RedisClient, keys: Keys): ListVerbs {
  async function list(index: Index, people: readonly string[], page: PageOptions): Promise<Page> {
    const { limit, from } = page;
    const ranges = shards().flatMap((shard) =>
      people.map((person): Range => ({ key: keys.shard(shard, index), person, entries: [], isAtEnd: false })),
    );
    const fewest = Math.ceil(limit / 16) + 1;
    await Promise.all(ranges.map((range) => readOn(range, fewest, from)));
    for (;;) {
      const newest = merge(ranges);
      const end = newest[limit];
      // The unread entries of a range are older than the last one it has shown.
      const hiding = ranges.filter(
        ({ entries, isAtEnd }) =>
          !isAtEnd && (end === undefined || (entries.at(-1)?.position ?? '') > end.position),
      );
      if (hiding.length === 0) {
        const shown = newest.slice(0, limit);
        return {
          requestIds: shown.map(({ requestId }) => requestId),
          next: end === undefined ? undefined : shown.at(-1)?.position,
        };
      }
      await Promise.all(hiding.map((range) => readOn(range, limit + 1, from)));
    }
  }

  async function readOn(range: Range, count: number, start: string | undefined): Promise<void> {
    const { key, person, entries } = range;
    const from = entries.at(-1)?.position ?? start;
    const upper = from === undefined ? `(${person}!` : `(${person} ${from}`;
    const members = await client.zrevrangebylex(key, upper, `[${person} `, 'LIMIT', 0, count);
    for (const member of members) {
      const position = member.slice(person.length + 1);
      entries.push({ position, requestId: requestIn(position) });
    }
    range.isAtEnd = members.length < count;
  }

  async function countPending(requester: string): Promise<number> {
    const [from, to] = [`[${requester} `, `(${requester}!`];
    const asked = await Promise.all(
      shards().map((shard) =>
        client.zrevrangebylex(keys.shard(shard, 'asked'), to, from, 'LIMIT', 0, NEWEST_COUNTED),
      ),
    );
    // A request has an expiry timer exactly while it is pending, so the timers alone are enough.
    const timers = asked.map((members) =>
      members.map((member) => `expire|${requestIn(member.slice(requester.length + 1))}`),
    );
    const due = await Promise.all(
      timers.flatMap((names, shard) =>
        names.length === 0 ? [] : [client.zmscore(keys.shard(shard, 'timers'), names)],
      ),
    );
    return due.flat().filter((at) => at !== null).length;
  }

  async function quarantinedIn(shard: number): Promise<QuarantinedThread[]> {
    const members = await client.zrange(keys.shard(shard, 'quarantined'), '0', '-1', 'WITHSCORES');
    const threads = members.flatMap((threadId, index) =>
      index % 2 === 0 ? [{ threadId, since: Number(members[index + 1]) }] : [],
    );
    return Promise.all(
      threads.map(async ({ threadId, since }) => {
        const reason = await client.hget(keys.thread(threadId), 'quarantine');
        return { threadId, since, reason: reason ?? '' };
      }),
    );
  }

  return {
    async listQuarantined() {
      const threads = await Promise.all(shards().map(quarantinedIn));
      return threads.flat().sort((a, b) => a.since - b.since);
    },
    listWaiting: (people, page) => list('waiting', people, page),
    listAsked: (person, page) => list('asked', [person], page),
    listDecided: (person, page) => list('decided', [person], page),
    countPending,
  };
}

/** Merges all entries, newest first; two groups of one person can name the same request. */
function merge(ranges: readonly Range[]): Entry[] {
  const entries = ranges.flatMap((range) => range.entries).sort((a, b) => (a.position < b.position ? 1 : -1));
  return entries.filter((entry, at) => entry.position !== entries[at - 1]?.position);
}

/** An entry without its person is a time and a request. */
function requestIn(position: string): string {
  return position.slice(position.indexOf(' ') + 1);
}

function shards(): number[] {
  return [...Array(SHARDS).keys()];
}
