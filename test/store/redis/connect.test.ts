import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import { type ConnectOptions, connectRedis, openConnection } from '../../../src/store/redis/connect.ts';
import { redactUrl } from '../../../src/store/redis/redact-url.ts';
import { RedisEnvironment, type RedisSettings } from '../../../src/store/redis/redis-settings.ts';
import type { RedisClient } from '../../../src/store/redis/run-script.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { type PrivateRedis, plainArguments, startPrivateRedis, until } from '../private-redis.ts';
import { startOldRedis } from './fake-old-redis.ts';

const run = promisify(execFile);
const QUICK: ConnectOptions = { patienceMs: 1500 };
const PASSWORD = 'S3CRET@with:odd/signs';
const USER_INFO = `app:${encodeURIComponent(PASSWORD)}`;

function single(url: string): RedisSettings {
  return { mode: 'single', urls: [url] };
}

/** Connects for one test. */
async function connected(settings: RedisSettings, options = QUICK): Promise<RedisClient> {
  const client = await connectRedis(settings, options);
  onTestFinished(() => client.disconnect());
  return client;
}

/** The error of something that must fail; nothing that hangs on it may hold the password. */
async function errorOf(doing: Promise<unknown>): Promise<string> {
  const error = await doing.then(
    () => new Error('It went well'),
    (reason: unknown) => reason,
  );
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/S3CRET/);
  return error instanceof Error ? error.message : String(error);
}

describe('the environment', () => {
  const problems = (environment: Record<string, string>): string[] =>
    (RedisEnvironment.safeParse(environment).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')} ${message}`,
    );

  test('one URL is a single server', () => {
    expect(RedisEnvironment.parse({ REDIS_URL: 'rediss://app:pw@redis.example:6380/2' })).toEqual({
      mode: 'single',
      urls: ['rediss://app:pw@redis.example:6380/2'],
    });
  });

  test('several URLs are the nodes of a cluster or the Sentinels of a master', () => {
    const REDIS_URL = 'redis://u:a,b@one:1, redis://u:a,b@two:2';
    const urls = ['redis://u:a,b@one:1', 'redis://u:a,b@two:2'];
    expect(RedisEnvironment.parse({ REDIS_URL, REDIS_MODE: 'cluster' })).toEqual({ mode: 'cluster', urls });
    expect(
      RedisEnvironment.parse({ REDIS_URL, REDIS_MODE: 'sentinel', REDIS_SENTINEL_NAME: 'main' }),
    ).toEqual({ mode: 'sentinel', urls, sentinelName: 'main' });
  });

  test.each<[Record<string, string>, RegExp]>([
    [{}, /^REDIS_URL /],
    [{ REDIS_URL: 'http://S3CRET@host' }, /^REDIS_URL must be redis:/],
    [{ REDIS_URL: 'redis://app:S3CRET/x@host' }, /^REDIS_URL must be redis:/],
    [{ REDIS_URL: 'redis://host/first' }, /^REDIS_URL must be redis:/],
    [{ REDIS_URL: 'redis://host?password=S3CRET' }, /^REDIS_URL must be redis:/],
    [{ REDIS_URL: 'redis://one,redis://two' }, /^REDIS_URL names several servers/],
    [{ REDIS_URL: 'redis://one/1', REDIS_MODE: 'cluster' }, /^REDIS_URL names a database/],
    [{ REDIS_URL: 'redis://:S3CRET@one,redis://two', REDIS_MODE: 'cluster' }, /^REDIS_URL must give every/],
    [{ REDIS_URL: 'redis://one', REDIS_MODE: 'S3CRET' }, /^REDIS_MODE must be single, sentinel or cluster/],
    [{ REDIS_URL: 'redis://one', REDIS_MODE: 'sentinel' }, /^REDIS_SENTINEL_NAME must name/],
  ])('%o is refused with one problem that repeats no value', (environment, problem) => {
    const found = problems(environment);
    expect(found).toEqual([expect.stringMatching(problem)]);
    expect(found.join()).not.toMatch(/S3CRET/);
  });
});

test.each([
  ['redis://host:6379/0', 'redis://host:6379/0'],
  ['rediss://app:pw@host:6380', 'rediss://host:6380'],
  ['redis://:p@ss@host', 'redis://host'],
  ['redis://app:p/w?x@host', 'redis://host'],
  ['redis://host?password=pw', 'redis://host'],
  ['redis://a:pw@one:1,redis://a:pw@two:2', 'redis://one:1, redis://two:2'],
])('%s is shown as %s', (url, shown) => {
  expect(redactUrl(url)).toBe(shown);
});

describe('a single server', () => {
  let server: PrivateRedis;
  let withUser: string;

  beforeAll(async () => {
    server = await startPrivateRedis(plainArguments);
    withUser = server.url.replace('//', `//${USER_INFO}@`);
    const admin = new Redis(server.url);
    await admin.acl('SETUSER', 'app', 'on', `>${PASSWORD}`, '~*', '+@all');
    await admin.quit();
  });
  afterAll(() => server.stop());

  test('is entered as the user and into the database that the URL names', async () => {
    const client = await connected(single(`${withUser}/3`));
    expect(await client.acl('WHOAMI')).toBe('app');
    expect(await client.client('INFO')).toMatch(/ db=3 /);
  });

  test('that does not know the password is one sentence without it', async () => {
    const wrong = server.url.replace('//', '//app:S3CRET-guess@');
    expect(await errorOf(connectRedis(single(wrong), QUICK))).toBe(
      `Redis at ${server.url} refused us (WRONGPASS); check the user and the password in REDIS_URL.`,
    );
  });

  test('that is not there is one sentence', async () => {
    const port = await findFreePort();
    const url = `redis://${USER_INFO}@127.0.0.1:${port}`;
    expect(await errorOf(connectRedis(single(url), QUICK))).toBe(
      `Redis at redis://127.0.0.1:${port} cannot be reached (ECONNREFUSED); check that it runs and that REDIS_URL is right.`,
    );
  });

  test('that takes the call and stays silent does not keep the caller for ever', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      mute.close();
    });
    const { port } = mute.address() as AddressInfo;
    expect(await errorOf(connectRedis(single(`redis://127.0.0.1:${port}`), QUICK))).toMatch(
      /cannot be reached \(timed out\)/,
    );
  });

  test('that repeats what it was sent gives no password away', async () => {
    const old = await startOldRedis();
    onTestFinished(() => old.stop());
    const url = old.url.replace('//', `//${USER_INFO}@`);
    expect(await errorOf(connectRedis(single(url), QUICK))).toBe(
      `Redis at ${old.url} refused us (ERR); check the user and the password in REDIS_URL.`,
    );
  });

  test('an error reply of a command tells what is wrong, and not what was sent', async () => {
    const client = await connected(single(server.url));
    await client.set('text', 'x');
    expect(await errorOf(client.lpush('text', 'S3CRET'))).toMatch(/^WRONGTYPE/);
  });

  test('a call during an outage fails with the sentence, and one after it succeeds on the same connection', async () => {
    const first = await startPrivateRedis(plainArguments);
    const told: string[] = [];
    const client = await connected(single(first.url), {
      ...QUICK,
      onProblem: (problem) => told.push(problem),
    });
    await first.stop();
    const sentence = `Redis at ${first.url} cannot be reached (ECONNREFUSED); check that it runs and that REDIS_URL is right.`;
    await until('the outage is told', () => told.length > 0);
    expect(await errorOf(client.get('x'))).toBe(sentence);
    expect(told).toEqual([sentence]);
    const second = await startPrivateRedis(plainArguments, first.port);
    onTestFinished(() => second.stop());
    await until('the connection is back', () => client.status === 'ready');
    expect(await client.ping()).toBe('PONG');
  });

  test('a command whose reply was lost is sent again', async () => {
    const client = await connected(single(server.url));
    const admin = new Redis(server.url);
    onTestFinished(() => admin.disconnect());
    const id = await client.client('ID');
    // The server is asleep while the command arrives; its connection is gone before the reply.
    await admin.client('PAUSE', 300, 'ALL');
    const answer = client.incr('counter');
    await admin.client('KILL', 'ID', id);
    expect(await answer).toBeGreaterThan(0);
  });
});

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
    const client = await connected(settings('main'), { patienceMs: 15_000 });
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
    const client = await connected({ mode: 'cluster', urls }, { patienceMs: 10_000 });
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
