import type { Verbs, World } from './world.ts';

type Modelled = 'readConnection' | 'saveConnection' | 'removeConnection' | 'listConnected';

/** A connection is replaced as a whole; who names the version that they replace or remove does so only while it is there. */
export function connectionModel({ connections }: World): Pick<Verbs, Modelled> {
  const keyOf = (server: string, person: string) => `${server} ${person}`;
  return {
    readConnection: (server, person) => connections.get(keyOf(server, person)),
    saveConnection(server, person, connection, replaces = '') {
      const current = connections.get(keyOf(server, person))?.version;
      if (current === connection.version) return 'saved';
      if (replaces !== '' && current !== replaces) return 'stale';
      connections.set(keyOf(server, person), connection);
      return 'saved';
    },
    removeConnection(server, person, expected = '') {
      const current = connections.get(keyOf(server, person))?.version;
      if (expected !== '' && current !== undefined && current !== expected) return 'stale';
      connections.delete(keyOf(server, person));
      return 'removed';
    },
    listConnected: (server) =>
      [...connections.keys()].flatMap((key) =>
        key.startsWith(`${server} `) ? [key.slice(server.length + 1)] : [],
      ),
  };
}
