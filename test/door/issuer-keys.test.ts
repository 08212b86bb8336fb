import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { Identities } from '../../src/door/identity.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis } from '../support/redis.ts';

/** An issuer that can rotate its key, and the bot's view of its one caller. */
async function startIssuer() {
  let keys: JWK[] = [];
  let reads = 0;
  const server = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/openid-configuration';
    if (!isMetadata) reads += 1;
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redis = connectTestRedis();
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await redis.close();
  });
  const caller = {
    name: 'pipeline',
    owner: 'U0REMI0001',
    channel: 'C0GENERAL1',
    tools: [],
    ask: [],
    links: [],
    identity: { kind: 'oidc', issuer, audience: 'countersign', claims: { sub: 'job' } },
    limits: { pending: 5, perHour: 30 },
  } as const;
  const identities = new Identities({
    store: openRedisStore(redis),
    callers: () => new Map([[caller.name, caller]]),
    personIn: async () => undefined,
    fetch,
    logger: pino({ level: 'silent' }),
  });
  const { privateKey: foreign } = await generateKeyPair('ES256');
  const sign = (kid: string, key = foreign) =>
    new SignJWT({ sub: 'job' })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(issuer)
      .setAudience('countersign')
      .setIssuedAt()
      .setExpirationTime('5m')
      .setJti(kid)
      .sign(key);
  /** Replaces the key, and returns a token that the new one has signed. */
  const rotate = async (kid: string): Promise<string> => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    keys = [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }];
    return sign(kid, privateKey);
  };
  const prove = async (token: string) => {
    const proven = await identities.prove(`Bearer ${token}`);
    return proven.ok ? proven.value.caller.name : proven.problem.code;
  };
  return { rotate, sign, prove, reads: () => reads };
}

test('a token of a key that its issuer has just made is good at once, also after another one', async () => {
  const { rotate, prove } = await startIssuer();
  for (const kid of ['one', 'two', 'three']) expect(await prove(await rotate(kid))).toBe('pipeline');
});

test('invented names of keys do not make the bot flood the issuer, and the known key goes on', async () => {
  const { rotate, sign, prove, reads } = await startIssuer();
  const good = await rotate('one');
  expect(await prove(good)).toBe('pipeline');
  const refused = new Set<string>();
  for (let invented = 0; invented < 30; invented += 1)
    refused.add(await prove(await sign(`invented-${invented}`)));
  expect([...refused]).toEqual(['unauthorized', 'unavailable']);
  expect(reads()).toBe(10);
  expect(await prove(good)).toBe('pipeline');
});
