import { randomUUID } from 'node:crypto';
import type { AuditStore } from '../port/audit.ts';
import type { DocumentStore, WriteOptions } from '../port/documents.ts';

/** The account of a person at a server, encrypted. */
export interface StoredConnection {
  /** Changes with every change of the value. */
  readonly version: string;
  readonly sealed: string;
}

/** The accounts that people have connected, and the attempts to connect one. All values are encrypted by the caller. */
export interface AccountRecord extends Pick<AuditStore, 'note'> {
  readConnection(server: string, person: string): Promise<StoredConnection | undefined>;
  /** Stores a connection; with `replaces`, only over that version. */
  saveConnection(
    server: string,
    person: string,
    connection: StoredConnection,
    replaces?: string,
  ): Promise<'saved' | 'stale'>;
  /** Removes a connection; with `version`, only that one, which was refused and may still be saved over by a late renewal. */
  removeConnection(server: string, person: string, version?: string): Promise<'removed' | 'stale'>;
  /** Lists the people who have connected a server. */
  listConnected(server: string): Promise<readonly string[]>;
  /** Lists the servers at which a person has connected an account, also one that its issuer refused, whatever the manifest says. */
  serversOf(person: string): Promise<readonly string[]>;
  /** Takes a lock for a while; false if another owner holds it. */
  lock(name: string, owner: string, forMs: number): Promise<boolean>;
  unlock(name: string, owner: string): Promise<void>;
  /** Stores an attempt to connect, which ends by itself. */
  saveAttempt(id: string, sealed: string, forMs: number): Promise<void>;
  readAttempt(id: string): Promise<string | undefined>;
  endAttempt(id: string): Promise<void>;
}

const ACCOUNTS = 'account:';
const LOCKS = 'lock';
const ATTEMPTS = 'attempt';

function refused(version: string): string {
  return `refused:${version}`;
}

export type AccountDocuments = DocumentStore & Pick<AuditStore, 'note'>;

/** Keeps the accounts as documents. */
export function accountsIn(store: AccountDocuments): AccountRecord {
  const groupOf = (server: string) => `${ACCOUNTS}${server}`;

  async function read(server: string, person: string): Promise<StoredConnection | undefined> {
    const found = await store.readDocument(groupOf(server), person);
    return found === undefined || found.value === ''
      ? undefined
      : { version: found.version, sealed: found.value };
  }

  return {
    note: store.note,

    readConnection: read,

    async saveConnection(server, person, { version, sealed }, replaces) {
      const write = async (options: WriteOptions) =>
        (await store.writeDocument(groupOf(server), person, { version, value: sealed }, options)) ===
        'written';
      if (replaces === undefined) return (await write({})) ? 'saved' : 'stale';
      return (await write({ replaces })) || (await write({ replaces: refused(replaces) }))
        ? 'saved'
        : 'stale';
    },

    async removeConnection(server, person, version) {
      if (version === undefined) {
        await store.writeDocument(groupOf(server), person, undefined);
        return 'removed';
      }
      // Its version stays: a process that renewed it before, and saves late, brings it back.
      const document = { version: refused(version), value: '' };
      const options = { replaces: version };
      if ((await store.writeDocument(groupOf(server), person, document, options)) === 'written')
        return 'removed';
      return (await read(server, person)) === undefined ? 'removed' : 'stale';
    },

    async listConnected(server) {
      const found = await store.listDocuments(`${groupOf(server)}|`);
      return found.flatMap(({ id, value }) => (value === '' ? [] : [id]));
    },

    async serversOf(person) {
      const found = await store.listDocuments(ACCOUNTS);
      return found.flatMap(({ group, id }) => (id === person ? [group.slice(ACCOUNTS.length)] : []));
    },

    async lock(name, owner, forMs) {
      const document = { version: owner, value: '' };
      return (await store.writeDocument(LOCKS, name, document, { replaces: '', forMs })) === 'written';
    },

    async unlock(name, owner) {
      await store.writeDocument(LOCKS, name, undefined, { replaces: owner });
    },

    async saveAttempt(id, sealed, forMs) {
      await store.writeDocument(ATTEMPTS, id, { version: randomUUID(), value: sealed }, { forMs });
    },

    readAttempt: async (id) => (await store.readDocument(ATTEMPTS, id))?.value,

    async endAttempt(id) {
      await store.writeDocument(ATTEMPTS, id, undefined);
    },
  };
}
