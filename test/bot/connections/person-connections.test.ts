import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  PersonConnections,
  type PersonConnectionsOptions,
} from '../../../src/bot/connections/person-connections.ts';
import { accountsIn } from '../../../src/store/documents/accounts.ts';
import { Keys } from '../../../src/store/port/keys.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Sealer } from '../../../src/tools/mcp/auth/connections.ts';
import { authFetch } from '../../../src/tools/mcp/auth/create-identities.ts';
import { toGrant } from '../../../src/tools/mcp/auth/grant.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';

const REMI = 'U1';
const DAY_MS = 86_400_000;
const REFUSED = { error: 'invalid_grant' };
const NOT_CONNECTED = /has no connected account/;

let redis: TestRedis;
let rooms = 0;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

/** An authorization server that answers a request for a token when the test says so. */
async function serveIssuer() {
  const asked: ServerResponse[] = [];
  const listener = createServer((request, response) => {
    request.resume();
    if (request.url === '/token') asked.push(response);
    else
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
        }),
      );
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  onTestFinished(() => {
    listener.closeAllConnections();
    listener.close();
  });
  return {
    issuer,
    /** Waits for the request with this number, and gives the way to answer it. */
    async request(number: number) {
      await expect.poll(() => asked.length, { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(number);
      return (body: object) =>
        asked[number - 1]
          ?.writeHead('error' in body ? 400 : 200, { 'content-type': 'application/json' })
          .end(JSON.stringify(body));
    },
  };
}

/** A person, a server, its issuer, and the accounts as a process sees them. */
async function open() {
  const { issuer, request } = await serveIssuer();
  rooms += 1;
  const prefix = `${redis.prefix}${rooms}:`;
  const record = openRedisStore({ client: redis.client, prefix });
  const store = accountsIn(record);
  const sealer = Sealer.read(Buffer.alloc(32, 1).toString('base64'));
  if (typeof sealer === 'string') throw new Error(sealer);
  const client = { clientId: 'countersign', issuer, secret: 'a secret of the client' };
  const server = {
    name: 'docs',
    url: 'https://docs.example/mcp',
    auth: {
      as: 'requester' as const,
      client: { ...client, privateKey: undefined, algorithm: 'RS256' },
      issuer,
      scope: undefined,
    },
    fetch: authFetch(fetch),
  };
  const bound = { issuer, resource: server.url, clientId: 'countersign', scope: 'read' };
  return {
    ...{ request, store, sealer, server, bound },
    startProcess: (changes: Partial<PersonConnectionsOptions> = {}) =>
      new PersonConnections({
        ...{ store, sealer, publicUrl: 'http://localhost', secrets: new Secrets() },
        logger: pino({ level: 'silent' }),
        ...changes,
      }),
    grantOf: (tokens: Partial<Parameters<typeof toGrant>[0]>) =>
      toGrant({ access_token: 'first', token_type: 'Bearer', ...tokens }, bound),
    /** Ends the lock on the person's token, as time does. */
    endLock: () => redis.client.del(new Keys(prefix).document(`lock|docs:${REMI}`)),
    async rows() {
      const events: string[] = [];
      for await (const { event } of record.exportAudit()) events.push(event);
      return events;
    },
  };
}

/** Sets the clock forward, and stops it. */
function pass(ms: number): void {
  vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('an account that is connected anew while its issuer refuses the former one stays connected', async () => {
  const { startProcess, server, grantOf, request, rows } = await open();
  const connections = startProcess();
  await connections.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const renewing = connections.renew(server, REMI, 'first');
  const answer = await request(1);
  await connections.connect(server, REMI, grantOf({ access_token: 'second', refresh_token: 'two' }));
  answer(REFUSED);
  expect(await renewing).toBe('second');
  expect(await connections.token(server, REMI)).toBe('second');
  expect(await rows()).not.toContain('disconnected');
});

test('a process whose lock has ended does not remove what another one has renewed', async () => {
  const { startProcess, server, grantOf, request, endLock, rows } = await open();
  const [one, other] = [startProcess(), startProcess()];
  await one.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const first = one.renew(server, REMI, 'first');
  const renew = await request(1);
  await endLock();
  const second = other.renew(server, REMI, 'first');
  const refuse = await request(2);
  renew({ access_token: 'second', token_type: 'Bearer', refresh_token: 'two' });
  expect(await first).toBe('second');
  refuse(REFUSED);
  expect(await second).toBe('second');
  expect(await other.token(server, REMI)).toBe('second');
  expect(await rows()).not.toContain('disconnected');
});

const RENEWED = { access_token: 'second', token_type: 'Bearer', refresh_token: 'two' };

test('an account whose refresh token was used a second time, and refused before the first use was saved, is there again when it is', async () => {
  const { startProcess, server, grantOf, request, endLock, rows } = await open();
  const [stalled, other] = [startProcess(), startProcess()];
  await stalled.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const first = stalled.renew(server, REMI, 'first');
  const renew = await request(1);
  await endLock();
  const second = other.renew(server, REMI, 'first');
  (await request(2))(REFUSED);
  await expect(second).rejects.toThrow(NOT_CONNECTED);
  renew(RENEWED);
  expect(await first).toBe('second');
  expect(await other.token(server, REMI)).toBe('second');
  expect(await other.isConnected(server, REMI)).toBe(true);
  expect(await rows()).toEqual(['connected', 'disconnected', 'connected']);
});

test('a process that stalled past its lock and is refused waits for the one that holds the lock, and uses its token', async () => {
  const { startProcess, store, server, grantOf, request, endLock, rows } = await open();
  let tries = 0;
  const counted: typeof store = {
    ...store,
    lock: (...args) => {
      tries += 1;
      return store.lock(...args);
    },
  };
  const [stalled, other] = [startProcess({ store: counted }), startProcess()];
  await stalled.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const first = stalled.renew(server, REMI, 'first');
  const refuse = await request(1);
  await endLock();
  const second = other.renew(server, REMI, 'first');
  const renew = await request(2);
  refuse(REFUSED);
  await Promise.race([first, expect.poll(() => tries).toBeGreaterThan(1)]);
  renew(RENEWED);
  expect(await second).toBe('second');
  expect(await first).toBe('second');
  expect(await rows()).toEqual(['connected']);
});

test('an account that its issuer refused and its owner then disconnected is not brought back by a late renewal', async () => {
  const { startProcess, server, grantOf, request, endLock } = await open();
  const [stalled, other] = [startProcess(), startProcess()];
  await stalled.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const first = stalled.renew(server, REMI, 'first');
  const renew = await request(1);
  await endLock();
  const second = other.renew(server, REMI, 'first');
  (await request(2))(REFUSED);
  await expect(second).rejects.toThrow(NOT_CONNECTED);
  await other.disconnect(server, REMI, REMI);
  renew(RENEWED);
  await expect(first).rejects.toThrow(NOT_CONNECTED);
  expect(await other.isConnected(server, REMI)).toBe(false);
});

test('a token that was renewed stays a secret until it has ended', async () => {
  const { startProcess, server, grantOf, request } = await open();
  const secrets = new Secrets();
  const connections = startProcess({ secrets });
  pass(0);
  await connections.connect(server, REMI, grantOf({ refresh_token: 'one-token', expires_in: 3600 }));
  const renewing = connections.renew(server, REMI, 'first');
  (await request(1))({ ...RENEWED, refresh_token: 'two-token' });
  await renewing;
  expect(secrets.redact('first and second, one-token and two-token')).not.toMatch(/first|second|token/);
  pass(3_600_000);
  expect(secrets.redact('first and second')).toBe('first and [redacted]');
});

test('an account that its issuer refuses is gone, and on record', async () => {
  const { startProcess, server, grantOf, request, store, rows } = await open();
  const connections = startProcess();
  await connections.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  const renewing = connections.renew(server, REMI, 'first');
  (await request(1))(REFUSED);
  await expect(renewing).rejects.toThrow(NOT_CONNECTED);
  expect(await store.readConnection('docs', REMI)).toBeUndefined();
  expect(await rows()).toEqual(['connected', 'disconnected']);
});

test('an exchange ends before its lock does: no other process sends the same refresh token meanwhile', async () => {
  const { startProcess, server: limited, grantOf, request } = await open();
  // Without a limit of its own for each request.
  const server = { ...limited, fetch };
  const timing = { exchangeMs: 300, lockMs: 10_000 };
  const [one, other] = [startProcess({ timing }), startProcess({ timing })];
  await one.connect(server, REMI, grantOf({ refresh_token: 'one' }));
  let failure = '';
  one.renew(server, REMI, 'first').catch((error: unknown) => {
    failure = String(error);
  });
  await request(1);
  const second = other.renew(server, REMI, 'first');
  const answer = await request(2);
  expect(failure).toContain('did not renew the token');
  answer({ access_token: 'second', token_type: 'Bearer' });
  expect(await second).toBe('second');
});

test('a token without an end and without a refresh token is used until the server refuses it', async () => {
  const { startProcess, server, grantOf, store, rows } = await open();
  const connections = startProcess();
  await connections.connect(server, REMI, grantOf({}));
  pass(DAY_MS);
  expect(await connections.token(server, REMI)).toBe('first');
  expect(await connections.isConnected(server, REMI)).toBe(true);
  await expect(connections.renew(server, REMI, 'first')).rejects.toThrow(NOT_CONNECTED);
  expect(await store.readConnection('docs', REMI)).toBeUndefined();
  expect(await rows()).toEqual(['connected', 'disconnected']);
});

test('a token with an end and without a refresh token is used until then, and not lost; then the person is asked again', async () => {
  const { startProcess, server, grantOf, store, rows } = await open();
  const connections = startProcess();
  pass(0);
  await connections.connect(server, REMI, grantOf({ expires_in: 3600 }));
  pass(3_599_000);
  expect(await connections.token(server, REMI)).toBe('first');
  pass(1_000);
  expect(await connections.isConnected(server, REMI)).toBe(false);
  await expect(connections.token(server, REMI)).rejects.toThrow(NOT_CONNECTED);
  expect(await store.readConnection('docs', REMI)).toBeDefined();
  await connections.connect(server, REMI, grantOf({ access_token: 'second', expires_in: 3600 }));
  expect(await connections.token(server, REMI)).toBe('second');
  expect(await rows()).toEqual(['connected', 'connected']);
});

test('a stored account that does not say whether its token has an end is used until the server refuses it', async () => {
  const { startProcess, server, bound, sealer, store } = await open();
  const past = Date.now() - DAY_MS;
  const stored = { ...bound, accessToken: 'first', renewAt: past - 60_000, endsAt: past };
  const sealed = sealer.seal(`connection|docs|${REMI}`, JSON.stringify(stored));
  await store.saveConnection('docs', REMI, { version: 'one', sealed });
  const connections = startProcess();
  expect(await connections.isConnected(server, REMI)).toBe(true);
  expect(await connections.token(server, REMI)).toBe('first');
  await expect(connections.renew(server, REMI, 'first')).rejects.toThrow(NOT_CONNECTED);
});
