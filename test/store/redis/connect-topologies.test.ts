import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import { connectRedis, openConnection } from '../../../src/store/redis/connect.ts';
import type { RedisSettings } from '../../../src/store/redis/redis-settings.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { type PrivateRedis, plainArguments, startPrivateRedis, until } from '../private-redis.ts';
import { connected, errorOf, PASSWORD, QUICK, single, USER_INFO } from './connecting.ts';

const run = promisify(execFile);
function sentinelArguments({ port, folder }: { port: number; folder: string }, masterPort: number): string[] {
  const file = join(folder, 'sentinel.conf');
  writeFileSync(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor main 127.0.0.1 ${masterPort} 1`,
      'sentinel down-after-milliseconds main 2000',
      'sentinel failover-timeout main 5000',
      '',
    ].join('\n'),
  );
  return [file, '--sentinel'];
}

describe('TLS', () => {
  let server: PrivateRedis;
  // Made for localhost and for this test alone, so that no machine needs OpenSSL's command to run it.
  const certificate = fileURLToPath(new URL('./fixtures/tls/certificate.pem', import.meta.url));
  const key = fileURLToPath(new URL('./fixtures/tls/key.pem', import.meta.url));

  beforeAll(async () => {
    server = await startPrivateRedis((place) => [
      ...plainArguments(place),
      ...['--port', '0', '--tls-port', String(place.port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate],
      ...['--user', 'app', 'on', `>${PASSWORD}`, '~*', '+@all'],
    ]);
  });
  afterAll(() => server.stop());

  test('a server whose certificate is trusted is entered with rediss and an ACL user', async () => {
    const script = fileURLToPath(new URL('./connect-process.ts', import.meta.url));
    const url = `rediss://${USER_INFO}@localhost:${server.port}`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate };
    const { stdout } = await run(process.execPath, ['--import', 'tsx', script, url], { env });
    expect(stdout).toBe('PONG as app\n');
  });

  test('a certificate that nobody vouches for is refused in one sentence', async () => {
    const url = `rediss://${USER_INFO}@localhost:${server.port}`;
    expect(await errorOf(connectRedis(single(url), QUICK))).toMatch(
      /^Redis at rediss:\/\/localhost:\d+ cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\);[^.]*\.$/,
    );
  });
});

describe('Sentinel', () => {
  let master: PrivateRedis;
  let replica: PrivateRedis;
  let sentinel: PrivateRedis;
  const settings = (sentinelName: string): RedisSettings => ({
    mode: 'sentinel',
    urls: [sentinel.url.replace('//', `//${USER_INFO}@`)],
    sentinelName,
  });

  beforeAll(async () => {
    const data = [
      '--user',
      'app',
      'on',
      `>${PASSWORD}`,
      '~*',
      '&*',
      '+@all',
      '--repl-diskless-sync-delay',
      '0',
    ];
    master = await startPrivateRedis((place) => [...plainArguments(place), ...data]);
    replica = await startPrivateRedis((place) => [
      ...plainArguments(place),
      ...data,
      ...['--replicaof', `127.0.0.1 ${master.port}`],
    ]);
    sentinel = await startPrivateRedis((place) => [...sentinelArguments(place, master.port)]);
  });
  afterAll(() => Promise.all([master.stop(), replica.stop(), sentinel.stop()]));

  test('leads to the master as the user of the URL, and to the new master after a failover', async () => {
    const client = await connected(settings('main'), { patienceMs: PATIENCE_MS });
    expect(await client.acl('WHOAMI')).toBe('app');
    expect(await client.config('GET', 'port')).toEqual(['port', String(master.port)]);
    const asked = new Redis(sentinel.url);
    onTestFinished(() => asked.disconnect());
    await until('the failover can begin', async () => {
      const answer = await asked.call('SENTINEL', 'FAILOVER', 'main').catch(() => 'not yet');
      return answer === 'OK';
    });
    await until('the new master is reached', async () => {
      const port = await client.config('GET', 'port').catch(() => undefined);
      return String(port) === `port,${replica.port}`;
    });
    expect(await client.set('after', 'failover')).toBe('OK');
  });

  test('that knows no master of that name is one sentence', async () => {
    expect(await errorOf(connectRedis(settings('other'), QUICK))).toBe(
      `Redis at "other" behind the Sentinels ${sentinel.url} cannot be reached (no Sentinel knows this master); check that it runs and that REDIS_URL is right.`,
    );
  });

  test('that is not there is one sentence', async () => {
    const gone = `redis://${USER_INFO}@127.0.0.1:${await findFreePort()}`;
    const error = await errorOf(connectRedis({ ...settings('main'), urls: [gone] }, QUICK));
    expect(error).toMatch(/^Redis at "main" behind the Sentinels redis:\/\/127[^@]* \(no Sentinel answers\)/);
  });
});

describe('a cluster', () => {
  test('is entered through any of its nodes', async () => {
    const { nodes, stop } = await startRedisCluster(2);
    onTestFinished(stop);
    const gone = await findFreePort();
    const urls = [gone, nodes[0]?.port].map((port) => `redis://127.0.0.1:${port}`);
    const client = await connected({ mode: 'cluster', urls }, { patienceMs: PATIENCE_MS });
    for (const key of ['a', 'b', 'c', 'd']) expect(await client.set(key, '1')).toBe('OK');
  });

  test('that is not there is one sentence, and a call on it does not hang', async () => {
    const urls = [`redis://${USER_INFO}@127.0.0.1:${await findFreePort()}`];
    const sentence = /^Redis at redis:\/\/127[^@]* cannot be reached \(no node of the cluster answers\)/;
    expect(await errorOf(connectRedis({ mode: 'cluster', urls }, QUICK))).toMatch(sentence);
    const client = openConnection({ mode: 'cluster', urls }, QUICK);
    onTestFinished(() => client.disconnect());
    expect(await errorOf(client.get('x'))).toMatch(sentence);
  });
});
