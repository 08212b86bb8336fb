import { setTimeout as sleep } from 'node:timers/promises';
import { Queue as JobQueue } from 'bullmq';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Queue } from '../../../src/store/port/queue.ts';
import { connectRedis } from '../../../src/store/redis/connect.ts';
import type { RedisSettings } from '../../../src/store/redis/redis-settings.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { plainArguments, startPrivateRedis, until } from '../private-redis.ts';
import { gate, handlers, NEVER, OFTEN, openTestQueue, prepareBenches } from './queue-support.ts';

const bench = prepareBenches();

describe('a process', () => {
  test('is woken for each kind of work', async () => {
    const seen: string[] = [];
    const { queue } = openTestQueue(bench());
    await queue.start({
      thread: async (threadId) => void seen.push(`thread ${threadId}`),
      run: async (requestId) => void seen.push(`run ${requestId}`),
      outbox: async () => void seen.push('outbox'),
      timer: async (kind, id) => void seen.push(`timer ${kind} ${id}`),
    });
    queue.wake({ kind: 'thread', threadId: 'C1:17.5' });
    queue.wake({ kind: 'run', requestId: 'C1:17.5~r1' });
    queue.wake({ kind: 'outbox' });
    queue.wake({ kind: 'timer', timer: 'expire', id: 'C1:17.5~r1' }, 30);
    await until('all four are woken', () => seen.length >= 4);
    expect(seen.sort()).toEqual(['outbox', 'run C1:17.5~r1', 'thread C1:17.5', 'timer expire C1:17.5~r1']);
  });

  test('queues equal work once, however often it is woken, and leaves no job behind', async () => {
    const { redis } = bench();
    const seen: string[] = [];
    const { queue } = openTestQueue(bench());
    for (let count = 0; count < 50; count += 1) queue.wake({ kind: 'run', requestId: 'T~r' });
    queue.wake({ kind: 'run', requestId: 'T~last' });
    const waiting = `{${redis.prefix}}:queue:run:wait`;
    await until('the last is queued', async () => (await redis.client.llen(waiting)) >= 2);
    expect(await redis.client.llen(waiting)).toBe(2);
    await queue.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    await until('both are done', () => seen.length >= 2);
    expect(seen.sort()).toEqual(['T~last', 'T~r']);
    await queue.stop();
    expect(await redis.client.keys(`{${redis.prefix}}:queue:run:[0-9]*`)).toEqual([]);
  });

  test('runs woken work itself, without a job', async () => {
    const { redis } = bench();
    const seen: string[] = [];
    const { queue } = openTestQueue(bench());
    await queue.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    queue.wake({ kind: 'run', requestId: 'T~r' });
    expect(seen).toEqual(['T~r']);
    await queue.stop();
    expect(await redis.client.exists(`{${redis.prefix}}:queue:run:id`)).toBe(0);
  });

  test('runs work once more that is woken while it runs', async () => {
    let rounds = 0;
    const held = gate();
    const { queue } = openTestQueue(bench());
    await queue.start(
      handlers({
        async run() {
          rounds += 1;
          if (rounds === 1) await held.passed;
        },
      }),
    );
    queue.wake({ kind: 'run', requestId: 'T~r' });
    queue.wake({ kind: 'run', requestId: 'T~r' });
    queue.wake({ kind: 'run', requestId: 'T~r' });
    expect(rounds).toBe(1);
    held.open();
    await until('the second round has begun', () => rounds === 2);
    await queue.stop();
    expect(rounds).toBe(2);
  });

  test('at its concurrency limit leaves work to a job, which another process takes', async () => {
    const held = gate();
    const seen: string[] = [];
    const { queue: busy } = openTestQueue(bench(), { concurrency: { run: 1 } });
    await busy.start(handlers({ run: () => held.passed }));
    // One is woken here and one came as a job, so that nothing more fits.
    busy.wake({ kind: 'run', requestId: 'T~1' });
    busy.wake({ kind: 'run', requestId: 'T~2' });
    busy.wake({ kind: 'run', requestId: 'T~3' });
    busy.wake({ kind: 'run', requestId: 'T~4' });
    const { queue: other } = openTestQueue(bench());
    await other.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    await until('the other has taken what was left', () => seen.length >= 2);
    expect(seen).toContain('T~4');
    held.open();
  });

  test('a later wake-up does not hold an earlier one back', async () => {
    const sent: string[] = [];
    const { queue } = openTestQueue(bench());
    await queue.start(handlers({ outbox: async () => void sent.push('') }));
    queue.wake({ kind: 'outbox' }, 600_000);
    queue.wake({ kind: 'outbox' });
    await until('it is woken', () => sent.length === 1);
  });

  test('leaves what is far away to the sweep, so that it costs no timer', async () => {
    const seen: string[] = [];
    const { queue } = openTestQueue(bench(), { longestDelayMs: 50 });
    await queue.start(handlers({ timer: async (_kind, id) => void seen.push(id) }));
    queue.wake({ kind: 'timer', timer: 'expire', id: 'T~far' }, 51);
    queue.wake({ kind: 'timer', timer: 'expire', id: 'T~near' }, 50);
    await until('the near one is woken', () => seen.includes('T~near'));
    queue.wake({ kind: 'timer', timer: 'expire', id: 'T~after' }, 50);
    await until('a later one is woken', () => seen.includes('T~after'));
    expect(seen).toEqual(['T~near', 'T~after']);
  });

  test('wakes the outbox no more often than the rate allows', async () => {
    const { redis } = bench();
    const sent: string[] = [];
    const { queue } = openTestQueue(bench(), { outboxRate: { max: 2, perMs: 3_600_000 } });
    await queue.start(handlers({ outbox: async () => void sent.push('') }));
    for (let time = 0; time < 5; time += 1) queue.wake({ kind: 'outbox' });
    // Two by the process itself; what is left is one job, and of jobs as many may run.
    await until('all that may run has run', () => sent.length === 3);
    for (let time = 0; time < 5; time += 1) queue.wake({ kind: 'outbox' });
    const waiting = `{${redis.prefix}}:queue:outbox:wait`;
    await until(
      'the rate is used up',
      async () => sent.length === 4 || (await redis.client.llen(waiting)) > 0,
    );
    await queue.stop();
    expect(sent.length).toBeLessThanOrEqual(4);
  });

  test('senders work beside each other, so that a slow one does not delay what comes after it', async () => {
    const held = gate();
    let begun = 0;
    const { queue } = openTestQueue(bench());
    await queue.start(
      handlers({
        outbox: async () => {
          begun += 1;
          if (begun === 1) await held.passed;
        },
      }),
    );
    queue.wake({ kind: 'outbox' });
    queue.wake({ kind: 'outbox' });
    await until('the second has begun', () => begun === 2);
    held.open();
  });

  test('drops a job that names no work, and goes on', async () => {
    const { redis } = bench();
    const seen: string[] = [];
    const { queue, warnings } = openTestQueue(bench());
    const jobs = new JobQueue('run', { connection: redis.client, prefix: `{${redis.prefix}}:queue` });
    onTestFinished(() => jobs.close());
    await jobs.add('run', { kind: 'run', requestId: 17 });
    queue.wake({ kind: 'run', requestId: 'T~good' });
    await queue.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    await until('the good one is done', () => seen.length === 1);
    expect(seen).toEqual(['T~good']);
    expect(warnings.map(({ message }) => message)).toEqual(['A job that names no work was dropped.']);
  });

  test('a handler that throws is told and stops nothing else', async () => {
    const seen: string[] = [];
    const { queue, warnings } = openTestQueue(bench(), { concurrency: { run: 1 } });
    await queue.start(
      handlers({
        async run(requestId) {
          if (requestId === 'T~bad') throw new Error('broken');
          seen.push(requestId);
        },
      }),
    );
    for (const requestId of ['T~1', 'T~bad', 'T~2']) queue.wake({ kind: 'run', requestId });
    await until('the others are done', () => seen.length === 2);
    await until('the failure is told', () => warnings.length === 1);
    expect(warnings[0]?.details).toMatchObject({
      err: new Error('broken'),
      work: { kind: 'run', requestId: 'T~bad' },
    });
  });

  test('a wake-up that Redis refuses is told once and thrown at nobody', async () => {
    const { redis } = bench();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    await redis.client.set(`{${redis.prefix}}:queue:run:wait`, 'not a list');
    const { queue, warnings } = openTestQueue(bench());
    for (const requestId of ['T~1', 'T~2', 'T~3']) queue.wake({ kind: 'run', requestId });
    await until('it is told', () => warnings.length > 0);
    await queue.stop();
    expect(warnings).toEqual([
      { details: { reason: 'WRONGTYPE' }, message: 'BullMQ reports a problem; the sweep goes on.' },
    ]);
    expect(unhandled).toEqual([]);
  });

  test('waking a Redis that is gone throws nothing, and works again when it is back', async () => {
    const first = await startPrivateRedis(plainArguments);
    const seen: string[] = [];
    const { queue } = openTestQueue(bench(), { settings: { mode: 'single', urls: [first.url] } });
    await queue.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    await first.stop();
    queue.wake({ kind: 'run', requestId: 'T~lost' });
    const second = await startPrivateRedis(plainArguments, first.port);
    onTestFinished(() => second.stop());
    await until('it is woken again', async () => {
      queue.wake({ kind: 'run', requestId: 'T~again' });
      await sleep(50);
      return seen.includes('T~again');
    });
    await queue.stop();
  });

  test('works on a Redis Cluster', async () => {
    const { nodes, stop } = await startRedisCluster(2);
    const cluster: RedisSettings = {
      mode: 'cluster',
      urls: nodes.map(({ host, port }) => `redis://${host}:${port}`),
    };
    const client = await connectRedis(cluster);
    const seen: string[] = [];
    const { queue, warnings } = openTestQueue(bench(), {
      settings: cluster,
      store: openRedisStore({ client }),
      sweep: NEVER,
    });
    onTestFinished(async () => {
      await queue.stop();
      await client.quit();
      await stop();
    });
    await queue.start(
      handlers({
        thread: async (threadId) => void seen.push(threadId),
        timer: async (kind) => void seen.push(kind),
      }),
    );
    queue.wake({ kind: 'thread', threadId: 'T1' });
    queue.wake({ kind: 'timer', timer: 'remind', id: 'T1~r' }, 20);
    await until('both are woken', () => seen.length === 2);
    expect(warnings).toEqual([]);
  });
});

describe('stop', () => {
  test.each([
    ['was woken', NEVER, (queue: Queue) => queue.wake({ kind: 'run', requestId: 'T~r' })],
    [
      'was found by the sweep',
      OFTEN,
      () => bench().redis.client.zadd(`{${bench().redis.prefix}}:timers`, 1, 'run|T~r'),
    ],
  ])('waits for a handler that %s', async (_how, sweep, cause) => {
    const { queue } = openTestQueue(bench(), { sweep });
    let hasBegun = false;
    let hasEnded = false;
    const held = gate();
    await queue.start(
      handlers({
        async run() {
          hasBegun = true;
          await held.passed;
          await sleep(20);
          hasEnded = true;
        },
      }),
    );
    await cause(queue);
    await until('the handler has begun', () => hasBegun);
    const stopped = queue.stop().then(() => hasEnded);
    await sleep(100);
    held.open();
    expect(await stopped).toBe(true);
  });

  test('still wakes others for what the last handler made due', async () => {
    const { redis } = bench();
    const { queue } = openTestQueue(bench());
    const held = gate();
    let hasBegun = false;
    let wokenHere = 0;
    await queue.start(
      handlers({
        async run() {
          hasBegun = true;
          await held.passed;
          for (let each = 0; each < 300; each += 1) queue.wake({ kind: 'thread', threadId: `T${each}` });
        },
        async thread() {
          wokenHere += 1;
        },
      }),
    );
    queue.wake({ kind: 'run', requestId: 'T~r' });
    await until('the handler has begun', () => hasBegun);
    const stopped = queue.stop();
    held.open();
    await stopped;
    // A read for jobs that was under way when the stop came may still have brought one here.
    const left = await redis.client.llen(`{${redis.prefix}}:queue:thread:wait`);
    expect(left + wokenHere).toBe(300);
  });

  test('does not wait for ever, and says so', async () => {
    const { queue, warnings } = openTestQueue(bench(), { stopWithinMs: 100 });
    let hasBegun = false;
    await queue.start(
      handlers({
        async run() {
          hasBegun = true;
          await new Promise(() => {});
        },
      }),
    );
    queue.wake({ kind: 'run', requestId: 'T~r' });
    await until('the handler has begun', () => hasBegun);
    await queue.stop();
    expect(warnings.map(({ message }) => message)).toEqual([
      'Handlers still ran 100 ms after the stop and were left behind.',
    ]);
  });

  test('ends although Redis is gone', async () => {
    const server = await startPrivateRedis(plainArguments);
    const settings: RedisSettings = { mode: 'single', urls: [server.url] };
    const { queue } = openTestQueue(bench(), { settings, stopWithinMs: 300 });
    await queue.start(handlers({}));
    await server.stop();
    queue.wake({ kind: 'run', requestId: 'T~lost' });
    await queue.stop();
  });

  test('takes no more work, and may be called twice and before any start', async () => {
    const seen: string[] = [];
    const { queue } = openTestQueue(bench());
    await queue.start(handlers({ run: async (requestId) => void seen.push(requestId) }));
    await Promise.all([queue.stop(), queue.stop()]);
    queue.wake({ kind: 'run', requestId: 'T~late' });
    expect(seen).toEqual([]);
    await openTestQueue(bench()).queue.stop();
  });
});
