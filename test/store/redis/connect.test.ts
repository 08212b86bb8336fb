import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import { connectRedis } from '../../../src/store/redis/connect.ts';
import { redactUrl } from '../../../src/store/redis/redact-url.ts';
import { RedisEnvironment } from '../../../src/store/redis/redis-settings.ts';
import { type PrivateRedis, plainArguments, startPrivateRedis, until } from '../private-redis.ts';
import { connected, errorOf, PASSWORD, QUICK, single, USER_INFO } from './connecting.ts';
import { startOldRedis } from './fake-old-redis.ts';

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
