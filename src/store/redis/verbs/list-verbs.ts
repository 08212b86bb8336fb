import type { RequestList, Store } from '../../port/store.ts';
import type { Keys } from '../../record/keys.ts';
import type { RedisClient } from '../run-script.ts';

type ListVerbs = Pick<Store, 'list' | 'listQuarantined'>;

/** The lists of App Home, and of quarantined threads. An entry is `person time request`, so that a page is a range of an index. */
export function listVerbs(client: RedisClient, keys: Keys): ListVerbs {
  /** Reads one person's entries without the person, newest first. */
  async function read(name: RequestList, person: string, count: number, from?: string): Promise<string[]> {
    const index = name === 'pending' ? 'asked' : name;
    const upper = from === undefined ? `(${person}!` : `(${person} ${from}`;
    const range = ['LIMIT', 0, count] as const;
    const entries = await client.zrevrangebylex(keys.shared(index), upper, `[${person} `, ...range);
    return entries.map((entry) => entry.slice(person.length + 1));
  }

  /** A request has an expiry timer exactly while it is pending, so the timers alone are enough. */
  async function pendingOf(requestIds: readonly string[]): Promise<readonly string[]> {
    if (requestIds.length === 0) return [];
    const timers = requestIds.map((id) => `expire|${id}`);
    const due = await client.zmscore(keys.shared('timers'), timers);
    return requestIds.filter((_, index) => due[index] !== null);
  }

  return {
    async listQuarantined() {
      const members = await client.zrange(keys.shared('quarantined'), '0', '-1', 'WITHSCORES');
      const threads = members.flatMap((threadId, index) =>
        index % 2 === 0 ? [{ threadId, since: Number(members[index + 1]) }] : [],
      );
      return Promise.all(
        threads.map(async ({ threadId, since }) => {
          const reason = await client.hget(keys.thread(threadId), 'quarantine');
          return { threadId, since, reason: reason ?? '' };
        }),
      );
    },
    async list(name, people, { limit, from }) {
      const found = await Promise.all(people.map((person) => read(name, person, limit + 1, from)));
      // Two groups of one person can name the same request.
      const positions = [...new Set(found.flat())].sort().reverse();
      const shown = positions.slice(0, limit);
      const requestIds = shown.map(requestIn);
      return {
        requestIds: name === 'pending' ? await pendingOf(requestIds) : requestIds,
        next: positions.length > limit ? shown.at(-1) : undefined,
      };
    },
  };
}

/** An entry without its person is a time and a request. */
function requestIn(position: string): string {
  return position.slice(position.indexOf(' ') + 1);
}
