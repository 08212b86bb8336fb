import type { Keys } from '../../port/keys.ts';
import type { Store } from '../../port/store.ts';
import type { RequestList } from '../../port/values.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

type ListVerbs = Pick<Store, 'list' | 'listQuarantined' | 'measure'>;

/** The lists of App Home and of quarantined threads, and the counts of the metrics. An entry is `person time request`, so that a page is a range of an index. */
export function listVerbs(run: RunScript, client: RedisClient, keys: Keys): ListVerbs {
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

    async measure() {
      const reply = new ScriptReply(await run('measure', { threadId: '', args: [] }));
      const [pending = 0, approved = 0, started = 0, unknown = 0, ...others] = reply.strings(1).map(Number);
      const [quarantinedThreads = 0, waiting = 0, due = 0, oldestMs = 0, overdueTimers = 0] = others;
      const [oldestWebhookMs = 0] = others.slice(5);
      return {
        requests: { pending, approved, started, unknown },
        quarantinedThreads,
        outbox: { waiting, due, oldestMs, oldestWebhookMs },
        overdueTimers,
      };
    },
  };
}

/** An entry without its person is a time and a request. */
function requestIn(position: string): string {
  return position.slice(position.indexOf(' ') + 1);
}
