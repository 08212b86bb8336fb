import { expect, onTestFinished, test, vi } from 'vitest';
import { createIdentities } from '../../../../src/tools/mcp/auth/create-identities.ts';
import type { BotAuth, HttpConfig } from '../../../../src/tools/mcp/mcp-config.ts';
import { Secrets } from '../../../../src/tools/secrets.ts';
import { call, eventually, httpConfig, open } from '../support.ts';
import { CLIENT_ID, CLIENT_SECRET, KEY_CLIENT_ID, serveOAuth } from './fixtures/oauth-server.ts';
import { type ProtectedOptions, serveProtected } from './fixtures/protected-server.ts';

async function startOAuth() {
  const oauth = await serveOAuth();
  onTestFinished(() => oauth.stop());
  return oauth;
}

async function startServer(options: ProtectedOptions) {
  const server = await serveProtected(options);
  onTestFinished(() => server.stop());
  return server;
}

function secretClient(issuer: string, scope?: string): BotAuth {
  const client = {
    clientId: CLIENT_ID,
    secret: CLIENT_SECRET,
    issuer,
    privateKey: undefined,
    algorithm: 'RS256',
  };
  return { as: 'bot', client, scope };
}

function connect(url: string, auth: BotAuth, changes: Partial<HttpConfig> = {}, secrets = new Secrets()) {
  const config = httpConfig(url, { auth, ...changes });
  return open(config, {
    guardedFetch: fetch,
    ...createIdentities({ name: 'tried', config }, { fetch, secrets }),
  });
}

test('calls run as the client of the manifest, and one token serves several', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer));
  expect(server.describe()).toMatchObject({ state: 'connected' });
  expect(await call(server, 'whoami')).toBe(`you are ${CLIENT_ID}`);
  expect(await call(server, 'whoami')).toBe(`you are ${CLIENT_ID}`);
  expect(oauth.tokensBy('client_credentials')).toBe(1);
});

test('a client may prove itself with a private key', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const { issuer, privateKey } = oauth;
  const client = { clientId: KEY_CLIENT_ID, secret: undefined, issuer, privateKey, algorithm: 'RS256' };
  const { server } = await connect(mcp.url, { as: 'bot', client, scope: undefined });
  expect(await call(server, 'whoami')).toBe(`you are ${KEY_CLIENT_ID}`);
});

test('a token that the server refuses is renewed once, and the call runs once', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer));
  mcp.refuseKnownTokens();
  const both = await Promise.all([call(server, 'whoami'), call(server, 'whoami')]);
  expect(both).toEqual([`you are ${CLIENT_ID}`, `you are ${CLIENT_ID}`]);
  expect(oauth.tokensBy('client_credentials')).toBe(2);
  expect(mcp.calls).toHaveLength(2);
});

test('a token is renewed before it ends', async () => {
  const oauth = await startOAuth();
  oauth.setLifetime(2);
  const mcp = await startServer({ issuer: oauth.issuer });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer));
  oauth.setLifetime(3600);
  const [first = ''] = mcp.tokens;
  await eventually(async () => {
    await call(server, 'whoami');
    expect(oauth.tokensBy('client_credentials')).toBe(2);
  });
  expect(mcp.tokens.at(-1)).not.toBe(first);
  expect(mcp.tokens).toHaveLength(2);
});

test('a call that needs more scope gets it, and runs once', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer, writeScope: 'mcp:write' });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer));
  expect(await call(server, 'write')).toBe(`you are ${CLIENT_ID}`);
  expect(mcp.calls).toEqual([{ tool: 'write', as: CLIENT_ID }]);
});

test('the scope of an admin is not widened: the call did not run', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer, writeScope: 'mcp:write' });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer, 'mcp:read'));
  await expect(call(server, 'write')).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining(
      'the server wants the scope "mcp:write", which auth.scope does not name',
    ),
  });
  expect(mcp.calls).toEqual([]);
});

test('a bearer token of the environment is sent, and one that is refused is said to be', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const { server: first } = await connect(mcp.url, secretClient(oauth.issuer));
  expect(first.state).toBe('connected');
  const { server } = await connect(mcp.url, { as: 'bot', token: mcp.tokens[0] ?? '' });
  expect(await call(server, 'whoami')).toBe(`you are ${CLIENT_ID}`);
  mcp.refuseKnownTokens();
  await expect(call(server, 'whoami')).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('the token of the manifest was refused'),
  });
});

test('credentials go to no other authorization server than the one that knows the client', async () => {
  const [known, other] = [await startOAuth(), await startOAuth()];
  const mcp = await startServer({ issuer: other.issuer });
  const { server } = await connect(mcp.url, secretClient(known.issuer));
  expect(server.describe()).toMatchObject({
    state: 'down',
    lastError: expect.stringContaining(`it names ${other.issuer}, but auth.issuer is ${known.issuer}`),
  });
  expect(other.seen).toEqual([]);
});

test('an authorization server that calls itself by another name is refused', async () => {
  const oauth = await startOAuth();
  const alias = oauth.issuer.replace('127.0.0.1', 'localhost');
  const mcp = await startServer({ issuer: oauth.issuer, advertised: [alias] });
  const { server } = await connect(mcp.url, secretClient(alias));
  expect(server.describe().state).toBe('down');
  expect(server.describe().lastError).toContain('Issuer mismatch');
  expect(oauth.tokensBy('client_credentials')).toBe(0);
});

test('metadata of another resource is refused, and no token for it is asked for', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer, resource: 'http://127.0.0.1:9/other' });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer));
  expect(server.describe().lastError).toContain('its metadata is for another resource');
  expect(oauth.tokensBy('client_credentials')).toBe(0);
});

test('a token for another resource is refused by the server', async () => {
  const oauth = await startOAuth();
  const [mcp, other] = [
    await startServer({ issuer: oauth.issuer }),
    await startServer({ issuer: oauth.issuer }),
  ];
  await connect(other.url, secretClient(oauth.issuer));
  const { server } = await connect(mcp.url, { as: 'bot', token: other.tokens[0] ?? '' });
  expect(server.describe().lastError).toContain('the token of the manifest was refused');
});

test('the headers of the server do not reach the authorization server', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const { server } = await connect(mcp.url, secretClient(oauth.issuer), {
    headers: { 'x-api-key': 'only for the server' },
  });
  expect(server.state).toBe('connected');
  expect(oauth.seen.filter(({ headers }) => headers['x-api-key'] !== undefined)).toEqual([]);
});

test('every token is known as a secret, and a former one is until it has ended', async () => {
  const oauth = await startOAuth();
  const mcp = await startServer({ issuer: oauth.issuer });
  const secrets = new Secrets();
  const { server } = await connect(mcp.url, secretClient(oauth.issuer), {}, secrets);
  mcp.refuseKnownTokens();
  await call(server, 'whoami');
  const [former = '', current = ''] = mcp.tokens;
  expect(secrets.redact(`the token ${current}`)).toBe('the token [redacted]');
  expect(secrets.redact(`the token ${former}`)).toBe('the token [redacted]');
  vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(secrets.redact(`the token ${former}`)).toBe(`the token ${former}`);
});
