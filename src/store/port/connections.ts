/** The account of a person at a server, encrypted. */
export interface StoredConnection {
  /** Changes with every change of the value. */
  readonly version: string;
  readonly sealed: string;
}

/** The accounts that people have connected, and the attempts to connect one. All values are encrypted by the caller. */
export interface ConnectionStore {
  readConnection(server: string, person: string): Promise<StoredConnection | undefined>;
  /** Stores a connection; with `replaces`, only over that version. */
  saveConnection(
    server: string,
    person: string,
    connection: StoredConnection,
    replaces?: string,
  ): Promise<'saved' | 'stale'>;
  /** Removes a connection; with `version`, only that one. */
  removeConnection(server: string, person: string, version?: string): Promise<'removed' | 'stale'>;
  /** Lists the people who have connected a server. */
  listConnected(server: string): Promise<readonly string[]>;
  /** Takes a lock for a while; false if another owner holds it. */
  lock(name: string, owner: string, forMs: number): Promise<boolean>;
  unlock(name: string, owner: string): Promise<void>;
  /** Stores an attempt to connect, which ends by itself. */
  saveAttempt(id: string, sealed: string, forMs: number): Promise<void>;
  readAttempt(id: string): Promise<string | undefined>;
  endAttempt(id: string): Promise<void>;
}
