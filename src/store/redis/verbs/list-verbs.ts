import type { RequestList, Store } from '../../port/store.ts';
import type { Keys } from '../../record/keys.ts';
import type { RedisClient } from '../run-script.ts';

type ListVerbs = Pick<Store, 'list' | 'countPending' | 'listQuarantined'>;

/** The newest requests of a person that are counted, so that a count costs no more after years of use. */
const NEWEST_COUNTED = 1_000;

/** The lists of App Home, and a count over one of them. An entry is `person time request`, so that a page is a range of an index. */
export function listVerbs(client: RedisClient, keys: Keys): ListVerbs {
  /** Reads one person's entries without the person, newest first. */
  async function read(index: RequestList, person: string, count: number, from?: string): Promise<string[]> {
    const upper = from === undefined ? `(${person}!` : `(${person} ${from}`;
    const range = ['LIMIT', 0, count] as const;
    const entries = await client.zrevrangebylex(keys.shared(index), upper, `[${person} `, ...range);
    return entries.map((entry) => entry.slice(person.length + 1));
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
      return {
        requestIds: shown.map(requestIn),
        next: positions.length > limit ? shown.at(-1) : undefined,
      };
    },
    async countPending(requester) {
      const asked = await read('asked', requester, NEWEST_COUNTED);
      if (asked.length === 0) return 0;
      // A request has an expiry timer exactly while it is pending, so the timers alone are enough.
      const timers = asked.map((position) => `expire|${requestIn(position)}`);
      const due = await client.zmscore(keys.shared('timers'), timers);
      return due.filter((at) => at !== null).length;
    },
  };
}

/** An entry without its person is a time and a request. */
function requestIn(position: string): string {
  return position.slice(position.indexOf(' ') + 1);
}
