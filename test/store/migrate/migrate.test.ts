import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Keys } from '../../../src/store/port/keys.ts';
import { claimRecord, type MigratedStep, migrate } from '../../../src/store/redis/record-version.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { run as runCommand } from '../../commands/support.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import { approve, ask, attempt } from '../support.ts';
import { renamesProgress } from './renamed-field.ts';

const RUNS = 2_000;
const STEPS = [renamesProgress];

let redis: TestRedis;
beforeEach(() => {
  redis = connectTestRedis();
});
afterEach(() => redis.close());

/** Runs as version 1 left them, beside other keys of the record. */
async function writeOldRuns(): Promise<readonly string[]> {
  await claimRecord(redis.client, redis.prefix);
  const keys = Array.from({ length: RUNS }, (_, number) => new Keys(redis.prefix).run(`C1:${number}~run_a`));
  const written = redis.client.pipeline();
  for (const [number, key] of keys.entries())
    written.hset(key, { state: 'running', progress: `${number} %` });
  await written.exec();
  return keys;
}

const versionNow = () => redis.client.hget(new Keys(redis.prefix).shared('head'), 'record');
const mended = async (keys: readonly string[]) =>
  (await Promise.all(keys.map((key) => redis.client.hget(key, 'said')))).filter((said) => said !== null)
    .length;

async function migrateNow(options = {}): Promise<readonly MigratedStep[]> {
  const done: MigratedStep[] = [];
  for await (const step of migrate(redis.client, redis.prefix, options, STEPS)) done.push(step);
  return done;
}

/** Migrates in a process of its own, which is killed once it has changed some keys. */
async function migrateAndKill(): Promise<void> {
  const script = fileURLToPath(new URL('./migrating-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, redis.url, redis.prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) if (Number(line) > 0) child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
}

test('a migration that is killed in the middle is played to its end, beside a process that works', async () => {
  const keys = await writeOldRuns();
  const store = openRedisStore(redis);
  const requestId = await ask(store);
  await store.vote(requestId, approve('U-ann'));
  await expect(claimRecord(redis.client, redis.prefix, STEPS)).rejects.toThrow(
    'The record in Redis is of version 1, and this Countersign works on version 2. Run "countersign migrate"; the processes of the release before may go on meanwhile.',
  );

  const [planned] = await migrateNow({ dryRun: true });
  expect(planned?.to).toBe(2);
  // SCAN may give a key twice.
  expect(planned?.old).toBeGreaterThanOrEqual(RUNS);
  expect([await versionNow(), await mended(keys)]).toEqual(['1', 0]);

  await migrateAndKill();
  const half = await mended(keys);
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(RUNS);
  expect(await versionNow()).toBe('1');

  const [[step], started] = await Promise.all([migrateNow(), store.start(requestId, attempt('first'))]);
  expect(started.outcome).toBe('started');
  expect(step?.old).toBeGreaterThanOrEqual(RUNS - half);
  expect(await versionNow()).toBe('2');
  const runs = await Promise.all(keys.map((key) => redis.client.hgetall(key)));
  expect(runs.every(({ state, progress, said }) => state === 'running' && said === progress)).toBe(true);
  expect(await migrateNow()).toEqual([]);

  await claimRecord(redis.client, redis.prefix, STEPS);
  await expect(claimRecord(redis.client, redis.prefix)).rejects.toThrow(
    /a later version of Countersign \(2;/,
  );
});

test('several processes may migrate at a time', async () => {
  const keys = await writeOldRuns();
  const both = await Promise.all([migrateNow(), migrateNow()]);
  expect(both.map((steps) => steps.length)).toEqual([1, 1]);
  expect([await versionNow(), await mended(keys)]).toEqual(['2', RUNS]);
});

test('the command says what there is to do', async () => {
  const command = (...args: readonly string[]) =>
    runCommand(['migrate', ...args], { REDIS_URL: redis.url }, redis.prefix);
  expect(await command()).toEqual({
    code: 0,
    out: '',
    error: 'there is no record yet, so there is nothing to do\n',
  });
  await claimRecord(redis.client, redis.prefix);
  const nothing = { code: 0, out: '', error: 'the record is of version 1, which is up to date\n' };
  expect(await command()).toEqual(nothing);
  expect(await command('--dry-run')).toEqual(nothing);
  await redis.client.hset(new Keys(redis.prefix).shared('head'), 'record', '2');
  const { code, error } = await command();
  expect([code, error]).toEqual([
    1,
    expect.stringContaining('was written by a later version of Countersign (2;'),
  ]);
});
