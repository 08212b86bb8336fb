import { describe, expect, test } from 'vitest';
import { shardOf } from '../../../src/store/record/keys.ts';
import { until } from '../private-redis.ts';
import { newThreadId } from '../support.ts';
import { answering, handlers, OFTEN, openTestEngine, prepareBenches, say } from './engine-support.ts';

const bench = prepareBenches();

describe('the sweep', () => {
  test('finds every kind of due work that nobody was woken for', async () => {
    const { redis, store } = bench();
    const { engine } = openTestEngine(bench(), { sweep: OFTEN });
    const seen = new Set<string>();
    const threadId = newThreadId();
    await say(store, threadId);
    await store.enqueueOutbox(threadId, { id: 'row', body: {} });
    await redis.client.zadd(`${redis.prefix}{5}:run`, 0, 'T~r');
    await redis.client.zadd(`${redis.prefix}{5}:timers`, 0, 'escalate|T~r');
    await engine.start({
      thread: async (id) => void seen.add(`thread ${id}`),
      run: async (requestId) => void seen.add(`run ${requestId}`),
      outbox: async (shard) => void seen.add(`outbox ${shard}`),
      timer: async (kind, id) => void seen.add(`timer ${kind} ${id}`),
    });
    await until('all four are found', () => seen.size === 4);
    expect([...seen].sort()).toEqual(
      [`outbox ${shardOf(threadId)}`, 'run T~r', `thread ${threadId}`, 'timer escalate T~r'].sort(),
    );
  });

  test('looks into a few quiet shards at a time, and each time into those where any process has worked lately', async () => {
    const { store } = bench();
    const sweeps: number[][] = [];
    let last: number[] = [];
    const { engine } = openTestEngine(bench(), {
      sweep: OFTEN,
      store: {
        due(shard, options) {
          // The calls of one sweep are made together.
          if (last.length === 0) {
            sweeps.push(last);
            queueMicrotask(() => {
              last = [];
            });
          }
          last.push(shard);
          return store.due(shard, options);
        },
      },
    });
    const { engine: other } = openTestEngine(bench());
    other.markActive(41);
    await engine.start(handlers({}));
    await until('every quiet shard was visited once', () => sweeps.length > 17);
    const [first = [], ...rest] = sweeps;
    expect(first).toHaveLength(64);
    for (const shards of rest) expect(shards).toContain(41);
    for (const shards of rest) expect(shards.length).toBeLessThanOrEqual(5);
    expect(new Set(rest.slice(0, 16).flat()).size).toBe(64);
  });

  test('looks each time into a shard whose work is due before its next visit', async () => {
    const { redis, store } = bench();
    let [looks, elsewhere] = [0, 0];
    let isFound = false;
    const { engine } = openTestEngine(bench(), {
      sweep: { everyMs: 50, overdueMs: 0 },
      store: {
        due(shard, options) {
          if (shard === 7) looks += 1;
          if (shard === 8) elsewhere += 1;
          return store.due(shard, options);
        },
      },
    });
    await engine.start(
      handlers({
        timer: async () => {
          isFound = true;
        },
      }),
    );
    await until('the first sweep is over', () => looks === 1);
    // A round over all shards takes about 0.8 seconds, and a visit sees 1.2 seconds ahead.
    await redis.client.zadd(`${redis.prefix}{7}:timers`, Date.now() + 1_900, 'expire|T~r');
    await until('it is found', () => isFound);
    // On a busy machine there are few sweeps, and more of them look here than into a shard without work.
    expect(looks).toBeGreaterThan(elsewhere);
  });

  test('leaves alone what became due only now', async () => {
    const { redis, store } = bench();
    const { engine } = openTestEngine(bench(), { sweep: { everyMs: 20, overdueMs: 3_600_000 } });
    const answered: string[] = [];
    await engine.start(
      handlers({ ...answering(store, answered), run: async (id) => void answered.push(id) }),
    );
    await say(store, newThreadId());
    await redis.client.zadd(`${redis.prefix}{5}:run`, 0, 'T~old');
    await until('the old one is found in several sweeps', () => answered.length >= 5);
    expect(new Set(answered)).toEqual(new Set(['T~old']));
  });

  test('what fails every time does not hide what lies behind it', async () => {
    const { redis } = bench();
    const { engine } = openTestEngine(bench(), { sweep: { ...OFTEN, limit: 1 } });
    const run = `${redis.prefix}{9}:run`;
    await redis.client.zadd(run, 1, 'T~bad1', 2, 'T~bad2', 3, 'T~bad3', 4, 'T~good');
    const seen: string[] = [];
    await engine.start(
      handlers({
        async run(requestId) {
          if (requestId.includes('bad')) throw new Error('broken');
          seen.push(requestId);
        },
      }),
    );
    await until('the good one is done', () => seen.includes('T~good'));
  });

  test('a handler that takes for ever holds up no other, and is not called again meanwhile', async () => {
    const { redis } = bench();
    const { engine } = openTestEngine(bench(), { sweep: OFTEN, concurrency: { run: 2 }, stopWithinMs: 50 });
    await redis.client.zadd(`${redis.prefix}{9}:run`, 1, 'T~slow', 2, 'T~1', 3, 'T~2');
    const seen: string[] = [];
    await engine.start(
      handlers({
        async run(requestId) {
          seen.push(requestId);
          if (requestId === 'T~slow') await new Promise(() => {});
        },
      }),
    );
    await until('the others are found in several sweeps', () => {
      return ['T~1', 'T~2'].every((id) => seen.filter((other) => other === id).length >= 5);
    });
    expect(seen.filter((id) => id === 'T~slow')).toHaveLength(1);
  });

  test('goes on after it could not look into a shard', async () => {
    const { store } = bench();
    const threadId = newThreadId();
    await say(store, threadId);
    let refusals = 0;
    const answered: string[] = [];
    const { engine, warnings } = openTestEngine(bench(), {
      sweep: OFTEN,
      store: {
        async due(shard, options) {
          if (shard === (shardOf(threadId) + 1) % 64) throw new Error('out of order');
          if (shard === shardOf(threadId) && refusals++ === 0) throw new Error('out of order');
          return store.due(shard, options);
        },
      },
    });
    await engine.start(handlers(answering(store, answered)));
    await until('the thread is answered', () => answered.length === 1);
    expect(warnings[0]?.message).toBe('The sweep could not look into 2 of 64 shards.');
  });
});
