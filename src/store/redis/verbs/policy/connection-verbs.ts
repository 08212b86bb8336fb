import type { ConnectionStore } from '../../../port/connections.ts';
import type { Keys } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

/** Keeps the connections of a server in two hashes: the encrypted values, and their versions. */
export function connectionVerbs(run: RunScript, client: RedisClient, keys: Keys): ConnectionStore {
  return {
    async readConnection(server, person) {
      const [version, sealed] = await Promise.all([
        client.hget(keys.connections(server, 'versions'), person),
        client.hget(keys.connections(server, 'connections'), person),
      ]);
      return version === null || sealed === null ? undefined : { version, sealed };
    },

    async saveConnection(server, person, { version, sealed }, replaces = '') {
      const args = [person, replaces, version, sealed];
      const { code } = new ScriptReply(await run('save-connection', { threadId: server, args }));
      return code === 'saved' ? 'saved' : 'stale';
    },

    async removeConnection(server, person, version = '') {
      const args = [person, version];
      const { code } = new ScriptReply(await run('remove-connection', { threadId: server, args }));
      return code === 'removed' ? 'removed' : 'stale';
    },

    listConnected: (server) => client.hkeys(keys.connections(server, 'connections')),

    async lock(name, owner, forMs) {
      const key = keys.attempt(`lock:${name}`);
      if ((await client.set(key, owner, 'PX', forMs, 'NX')) === 'OK') return true;
      // The reply to an earlier copy of the command may have been lost.
      return (await client.get(key)) === owner;
    },

    async unlock(name, owner) {
      const key = keys.attempt(`lock:${name}`);
      // Not atomic: at worst the lock of another owner ends early, and its version is checked when it saves or removes.
      if ((await client.get(key)) === owner) await client.del(key);
    },

    async saveAttempt(id, sealed, forMs) {
      await client.set(keys.attempt(id), sealed, 'PX', forMs);
    },

    async readAttempt(id) {
      return (await client.get(keys.attempt(id))) ?? undefined;
    },

    async endAttempt(id) {
      await client.del(keys.attempt(id));
    },
  };
}
