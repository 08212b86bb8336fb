import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../../agent/errors.ts';
import { tryParseJson } from '../../agent/json.ts';
import type { AccountRecord } from '../../store/documents/accounts.ts';
import { AuthorizationError, toAuthorizationError } from '../../tools/errors.ts';
import type { Connections, RequesterServer, Sealer } from '../../tools/mcp/auth/connections.ts';
import { Grant, hasEnded } from '../../tools/mcp/auth/grant.ts';
import type { Challenge, ConsentSettings, Fetch } from '../../tools/mcp/mcp-config.ts';
import type { Secrets } from '../../tools/secrets.ts';

/** Loads what speaks with authorization servers, which only a bot with accounts of people needs. */
export const loadConsent = () => import('../../tools/mcp/auth/consent.ts');

/** The path to which an authorization server sends people back. */
export const CALLBACK_PATH = '/connect/return';
/** The path of the client metadata document. */
export const CLIENT_PATH = '/connect/client.json';
/** The beginning of the path of a link to connect; the token follows. */
export const LINK_PATH = '/connect/start/';

/** An exchange ends before its lock does, so that no two processes send the same refresh token. */
const TIMING = { exchangeMs: 32_000, lockMs: 40_000 } as const;
const LOCK_POLL_MS = 100;
/** A person whose account lacks a scope is asked for it when they connect again; the note ends with the day. */
const WANTED_MS = 86_400_000;

export interface PersonConnectionsOptions {
  readonly store: AccountRecord;
  /** Without a key nobody can connect. */
  readonly sealer: Sealer | undefined;
  readonly publicUrl: string;
  readonly secrets: Secrets;
  readonly logger: Logger;
  /** The time for an exchange of a refresh token, and for the lock around it. */
  readonly timing?: { readonly exchangeMs: number; readonly lockMs: number };
}

interface Held {
  readonly version: string;
  readonly grant: Grant;
}

/** The accounts of people at servers, encrypted in Redis. A token is renewed by one process at a time. */
export class PersonConnections implements Connections {
  readonly #options: PersonConnectionsOptions;
  /** The tokens that are known as secrets, by server and person. */
  readonly #redacted = new Map<string, { readonly tokens: readonly string[]; readonly endsAt: number }>();

  constructor(options: PersonConnectionsOptions) {
    this.#options = options;
  }

  /** The settings by which a person is asked, and by which their tokens are renewed. */
  settingsFor({ url, auth, fetch }: RequesterServer): ConsentSettings {
    const base = this.#options.publicUrl.replace(/\/$/, '');
    return {
      serverUrl: url,
      auth,
      redirectUrl: `${base}${CALLBACK_PATH}`,
      clientMetadataUrl: base.startsWith('https://') ? `${base}${CLIENT_PATH}` : undefined,
      fetch,
    };
  }

  async isConnected(server: RequesterServer, person: string): Promise<boolean> {
    const held = await this.#read(server, person);
    return held !== undefined && (await this.wantedScope(server, person)) === undefined;
  }

  async token(server: RequesterServer, person: string): Promise<string> {
    const held = await this.#require(server, person);
    const { accessToken, refreshToken, renewAt } = held.grant;
    // What cannot be renewed is lost only when the server refuses it.
    if (refreshToken === undefined || Date.now() < renewAt) return accessToken;
    return this.#refresh(server, person, held);
  }

  async renew(server: RequesterServer, person: string, refused: string | undefined): Promise<string> {
    const held = await this.#require(server, person);
    if (held.grant.accessToken !== refused) return held.grant.accessToken;
    return this.#refresh(server, person, held);
  }

  async widen(server: RequesterServer, person: string, { scope = '' }: Challenge): Promise<never> {
    await this.#options.store.saveAttempt(wantedKey(server, person), scope, WANTED_MS);
    throw new AuthorizationError(
      `the account of the requester lacks the scope "${scope}"; call it again, and they are asked for it`,
      { needsConsent: true },
    );
  }

  /** The scope that a call lacked since the person connected. */
  wantedScope(server: RequesterServer, person: string): Promise<string | undefined> {
    return this.#options.store.readAttempt(wantedKey(server, person));
  }

  async someone(server: RequesterServer): Promise<string | undefined> {
    for (const person of await this.#options.store.listConnected(server.name))
      if ((await this.#read(server, person)) !== undefined) return person;
    return undefined;
  }

  /** The scope of the person's present account, so that a new one keeps it. */
  async grantedScope(server: RequesterServer, person: string): Promise<string | undefined> {
    return (await this.#read(server, person))?.grant.scope;
  }

  /** Stores a new account of a person, in place of a former one; it is on record. */
  async connect(server: RequesterServer, person: string, grant: Grant): Promise<void> {
    const { store } = this.#options;
    const version = randomUUID();
    await store.saveConnection(server.name, person, { version, sealed: this.#seal(server, person, grant) });
    await store.endAttempt(wantedKey(server, person));
    await this.#note(server, person, version, grant);
  }

  async #note({ name }: RequesterServer, person: string, version: string, grant: Grant): Promise<void> {
    const { issuer, resource, scope = '' } = grant;
    await this.#options.store.note(version, 'connected', person, { server: name, issuer, resource, scope });
  }

  /** Removes the account of a person and tells its issuer; it is on record. Returns whether there was one. */
  async disconnect(server: RequesterServer, person: string, by: string): Promise<boolean> {
    const { store, logger } = this.#options;
    const stored = await store.readConnection(server.name, person);
    const held = await this.#read(server, person);
    await store.removeConnection(server.name, person);
    if (stored === undefined) return false;
    const { revokeGrant } = await loadConsent();
    const isRevoked =
      held !== undefined &&
      (await revokeGrant(this.settingsFor(server), held.grant).catch((error: unknown) => {
        logger.warn({ server: server.name, person, reason: describeError(error) }, 'account not revoked');
        return false;
      }));
    const noted = { server: server.name, by, revoked: isRevoked };
    await store.note(`${stored.version}/end`, 'disconnected', person, noted);
    return true;
  }

  /** Exchanges the refresh token; other processes wait for the result, since most issuers take a refresh token once. */
  async #refresh(server: RequesterServer, person: string, held: Held): Promise<string> {
    const { store } = this.#options;
    const [name, owner] = [`${server.name}:${person}`, randomUUID()];
    await this.#lock(name, owner);
    try {
      const current = await this.#require(server, person);
      if (current.version !== held.version) return current.grant.accessToken;
      const renewed = await this.#exchange(server, current);
      if (renewed !== undefined) return await this.#save(server, person, current, renewed);
      // If the lock has ended meanwhile, who holds it may be about to save what took the place of the refused token.
      await this.#lock(name, owner);
      return await this.#lose(server, person, current);
    } finally {
      await store.unlock(name, owner);
    }
  }

  /** Waits until no other process renews the token. */
  async #lock(name: string, owner: string): Promise<void> {
    const { store, timing: { lockMs } = TIMING } = this.#options;
    for (const until = Date.now() + lockMs; !(await store.lock(name, owner, lockMs)); ) {
      if (Date.now() > until) throw new AuthorizationError('the token is being renewed; try again');
      await sleep(LOCK_POLL_MS);
    }
  }

  /** Stores a renewed grant, also over one that was refused meanwhile because another process had used the same refresh token again. */
  async #save(server: RequesterServer, person: string, former: Held, renewed: Grant): Promise<string> {
    const { store } = this.#options;
    const isLost = (await store.readConnection(server.name, person)) === undefined;
    const version = randomUUID();
    const sealed = this.#seal(server, person, renewed);
    const saved = await store.saveConnection(server.name, person, { version, sealed }, former.version);
    if (saved === 'stale') return (await this.#require(server, person)).grant.accessToken;
    if (isLost) await this.#note(server, person, version, renewed);
    return renewed.accessToken;
  }

  /** Returns the renewed grant; `undefined` if the account has to be connected anew. An outage throws, and changes nothing. */
  async #exchange(server: RequesterServer, { grant }: Held): Promise<Grant | undefined> {
    const { timing: { exchangeMs } = TIMING } = this.#options;
    const signal = AbortSignal.timeout(exchangeMs);
    const fetch: Fetch = (url, init) => server.fetch(url, { ...init, signal });
    const { refreshGrant, isRefused } = await loadConsent();
    try {
      return await refreshGrant(this.settingsFor({ ...server, fetch }), grant);
    } catch (error) {
      if (isRefused(error, grant)) return undefined;
      throw toAuthorizationError(`${grant.issuer} did not renew the token`, error);
    }
  }

  /** Removes an account that its issuer refuses; one that has taken its place meanwhile stays, and its token is returned. */
  async #lose(server: RequesterServer, person: string, { version, grant }: Held): Promise<string> {
    const { store } = this.#options;
    const removed = await store.removeConnection(server.name, person, version);
    if (removed === 'stale') return (await this.#require(server, person)).grant.accessToken;
    const { issuer } = grant;
    await store.note(`${version}/end`, 'disconnected', person, { server: server.name, by: 'issuer', issuer });
    throw notConnected();
  }

  async #require(server: RequesterServer, person: string): Promise<Held> {
    const held = await this.#read(server, person);
    if (held === undefined) throw notConnected();
    return held;
  }

  /** Reads the account of a person; one that has ended, or is for another server or issuer than the manifest names, counts as none. */
  async #read(server: RequesterServer, person: string): Promise<Held | undefined> {
    const { store, sealer } = this.#options;
    if (sealer === undefined)
      throw new AuthorizationError('CONNECTIONS_KEY is not set, so nobody can connect');
    const stored = await store.readConnection(server.name, person);
    const text = stored && sealer.open(placeOf(server.name, person), stored.sealed);
    const grant = text === undefined ? undefined : Grant.safeParse(tryParseJson(text)).data;
    if (stored === undefined || grant === undefined) return undefined;
    const { isGrantFor } = await loadConsent();
    if (!isGrantFor(server, grant) || hasEnded(grant)) return undefined;
    this.#redact(placeOf(server.name, person), grant);
    return { version: stored.version, grant };
  }

  #seal(server: RequesterServer, person: string, grant: Grant): string {
    const { sealer } = this.#options;
    if (sealer === undefined)
      throw new AuthorizationError('CONNECTIONS_KEY is not set, so nobody can connect');
    this.#redact(placeOf(server.name, person), grant);
    return sealer.seal(placeOf(server.name, person), JSON.stringify(grant));
  }

  #redact(place: string, { accessToken, refreshToken, registered, endsAt }: Grant): void {
    const tokens = [accessToken, refreshToken, registered?.secret].filter((token) => token !== undefined);
    const known = this.#redacted.get(place);
    if (known?.tokens.join() === tokens.join()) return;
    for (const token of tokens) this.#options.secrets.add(token);
    for (const token of known?.tokens ?? []) this.#options.secrets.remove(token, known?.endsAt ?? 0);
    this.#redacted.set(place, { tokens, endsAt });
  }
}

function notConnected(): AuthorizationError {
  return new AuthorizationError('the requester has no connected account; call it again, and they are asked', {
    needsConsent: true,
  });
}

function placeOf(server: string, person: string): string {
  return `connection|${server}|${person}`;
}

function wantedKey({ name }: RequesterServer, person: string): string {
  return `wanted:${name}:${person}`;
}
