import { type Keys, SHARDS } from './keys.ts';
import type { Page, PageOptions, Store } from './port.ts';
import type { RedisClient } from './run-script.ts';

type ListVerbs = Pick<Store, 'listWaiting' | 'listAsked' | 'listDecided'>;
type Index = 'waiting' | 'asked' | 'decided';

interface Entry {
  readonly position: string;
  readonly requestId: string;
}

/** The lists of App Home. An entry is `person time request`, so that a page is a range of one index and costs no more. */
export function listVerbs(client: RedisClient, keys: Keys): ListVerbs {
  async function list(index: Index, people: readonly string[], page: PageOptions): Promise<Page> {
    const ranges = shards().flatMap((shard) =>
      people.map((person) => range(keys.shard(shard, index), person, page)),
    );
    const entries = (await Promise.all(ranges)).flat().sort((a, b) => (a.position < b.position ? 1 : -1));
    // Two groups of one person can name the same request.
    const distinct = entries.filter((entry, at) => entry.position !== entries[at - 1]?.position);
    const shown = distinct.slice(0, page.limit);
    return {
      requestIds: shown.map(({ requestId }) => requestId),
      next: distinct.length > page.limit ? shown.at(-1)?.position : undefined,
    };
  }

  async function range(key: string, person: string, { limit, from }: PageOptions): Promise<Entry[]> {
    const upper = from === undefined ? `(${person}!` : `(${person} ${from}`;
    const members = await client.zrevrangebylex(key, upper, `[${person} `, 'LIMIT', 0, limit + 1);
    return members.map((member) => {
      const position = member.slice(person.length + 1);
      return { position, requestId: position.slice(position.indexOf(' ') + 1) };
    });
  }

  return {
    listWaiting: (people, page) => list('waiting', people, page),
    listAsked: (person, page) => list('asked', [person], page),
    listDecided: (person, page) => list('decided', [person], page),
  };
}

function shards(): number[] {
  return [...Array(SHARDS).keys()];
}
