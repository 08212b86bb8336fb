import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkServer, type ServerFinding } from '../../../src/store/redis/check-server.ts';
import { connectRedis } from '../../../src/store/redis/connect.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { type PrivateRedis, plainArguments, startPrivateRedis } from '../private-redis.ts';
import { startOldRedis } from './fake-old-redis.ts';

let server: PrivateRedis;
let admin: Redis;

beforeAll(async () => {
  server = await startPrivateRedis(plainArguments);
  admin = new Redis(server.url);
});
afterAll(async () => {
  await admin.quit();
  await server.stop();
});

/** Checks the server as it is with these settings, and puts the safest ones back. */
async function checkWith(settings: Record<string, string>): Promise<ServerFinding[]> {
  const safest = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always', save: '' };
  for (const [name, value] of Object.entries({ ...safest, ...settings }))
    await admin.config('SET', name, value);
  return checkServer(admin);
}

test('a server that keeps every acknowledged write has no findings', async () => {
  expect(await checkWith({})).toEqual([]);
});

test.each<[Record<string, string>, string, RegExp]>([
  [{ 'maxmemory-policy': 'allkeys-lru' }, 'maxmemory-policy', /pending requests may be evicted/],
  [{ 'maxmemory-policy': 'volatile-ttl' }, 'maxmemory-policy', /set it to noeviction/],
  [{ appendonly: 'no' }, 'appendonly', /a restart loses every approval/],
  [{ appendonly: 'no', save: '3600 1' }, 'appendonly', /a crash loses the approvals since the last one/],
  [{ appendfsync: 'no' }, 'appendfsync', /leaves it to the system/],
  [{ appendfsync: 'everysec' }, 'appendfsync', /up to a second of acknowledged writes/],
])('%o is one risk, told in one sentence', async (settings, setting, sentence) => {
  const findings = await checkWith(settings);
  expect(findings).toEqual([{ severity: 'risk', setting, message: expect.stringMatching(sentence) }]);
  expect(findings[0]?.message).toMatch(/^Redis [^.]*\.$/);
});

test('several risks are told together', async () => {
  const findings = await checkWith({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru' });
  expect(findings.map(({ setting }) => setting)).toEqual(['maxmemory-policy', 'appendonly']);
});

test('a server that refuses CONFIG is checked as far as it can be, and the rest is named', async () => {
  await checkWith({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru' });
  await admin.acl('SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-config');
  const client = await connectRedis({ mode: 'single', urls: [server.url.replace('//', '//app:secret@')] });
  onTestFinished(async () => {
    await client.quit();
  });
  const findings = await checkServer(client);
  expect(findings.map(({ setting }) => setting)).toEqual(['CONFIG GET', 'maxmemory-policy', 'appendonly']);
  expect(findings[0]?.message).toMatch(/cannot see when it takes snapshots/);
});

test('a server that refuses INFO as well still gives an answer', async () => {
  await admin.acl('SETUSER', 'blind', 'on', '>secret', '~*', '+@all', '-config', '-info');
  // The check that ioredis makes with INFO on its own account is no part of this.
  const client = new Redis(server.port, { username: 'blind', password: 'secret', enableReadyCheck: false });
  onTestFinished(async () => {
    await client.quit();
  });
  expect((await checkServer(client)).map(({ setting }) => setting)).toEqual(['INFO', 'CONFIG GET']);
});

test('a read-only replica is an error', async () => {
  const replica = await startPrivateRedis((place) => [
    ...plainArguments(place),
    ...['--replicaof', `127.0.0.1 ${server.port}`, '--appendonly', 'yes', '--appendfsync', 'always'],
  ]);
  const client = new Redis(replica.url);
  onTestFinished(async () => {
    await client.quit();
    await replica.stop();
  });
  expect(await checkServer(client)).toEqual([
    {
      severity: 'error',
      setting: 'replica-read-only',
      message: expect.stringMatching(/is a replica and takes no writes/),
    },
  ]);
});

test('a version below 7 is an error', async () => {
  const old = await startOldRedis();
  const client = await connectRedis({ mode: 'single', urls: [old.url] });
  onTestFinished(async () => {
    client.disconnect();
    await old.stop();
  });
  expect(await checkServer(client)).toContainEqual({
    severity: 'error',
    setting: 'version',
    message: 'Redis is version 5.0.14, but 7 or newer is needed; upgrade it.',
  });
});

test('each master of a cluster is looked at, and named', async () => {
  const { nodes, stop } = await startRedisCluster(2);
  const client = new Cluster([...nodes]);
  onTestFinished(async () => {
    await client.quit();
    await stop();
  });
  await client.ping();
  const findings = await checkServer(client);
  expect(findings.map(({ setting }) => setting)).toEqual(['appendonly', 'appendonly']);
  for (const { host, port } of nonEmpty(nodes)) {
    expect(findings.some(({ message }) => message.startsWith(`${host}:${port} keeps nothing`))).toBe(true);
  }
});

test('a node of a cluster that is reached as a single server is an error', async () => {
  const { nodes, stop } = await startRedisCluster(2);
  const client = new Redis(nodes[0]?.port ?? 0);
  onTestFinished(async () => {
    await client.quit();
    await stop();
  });
  const findings = await checkServer(client);
  expect(findings).toContainEqual({
    severity: 'error',
    setting: 'cluster-enabled',
    message: 'Redis is a node of a cluster; set REDIS_MODE to cluster.',
  });
});

test('slots that nobody serves are an error', async () => {
  const { nodes, stop } = await startRedisCluster(2);
  const client = new Cluster([...nodes]);
  onTestFinished(async () => {
    await client.quit();
    await stop();
  });
  await client.ping();
  for (const node of client.nodes('master')) {
    await node.config('SET', 'cluster-require-full-coverage', 'no');
    await node.cluster('DELSLOTSRANGE', 0, 383);
  }
  expect((await checkServer(client))[0]).toEqual({
    severity: 'error',
    setting: 'cluster-slots',
    message: expect.stringMatching(/^The cluster serves 16000 of 16384 slots/),
  });
});
