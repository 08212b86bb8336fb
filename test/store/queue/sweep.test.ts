import { describe, expect, test } from 'vitest';
import { until } from '../private-redis.ts';
import { newThreadId } from '../support.ts';
import { answering, handlers, OFTEN, openTestQueue, prepareBenches, say } from './queue-support.ts';

const bench = prepareBenches();

describe('the sweep', () => {
  test('finds every kind of due work that nobody was woken for', async () => {
    const { redis, store } = bench();
    const { queue } = openTestQueue(bench(), { sweep: OFTEN });
    const seen = new Set<string>();
    const threadId = newThreadId();
    await say(store, threadId);
    await store.enqueueOutbox(threadId, { id: 'row', body: {} });
    await redis.client.zadd(`{${redis.prefix}}:timers`, 0, 'run|T~r');
    await redis.client.zadd(`{${redis.prefix}}:timers`, 0, 'escalate|T~r');
    await queue.start({
      thread: async (id) => void seen.add(`thread ${id}`),
      run: async (requestId) => void seen.add(`run ${requestId}`),
      outbox: async () => void seen.add('outbox'),
      timer: async (kind, id) => void seen.add(`timer ${kind} ${id}`),
    });
    await until('all four are found', () => seen.size === 4);
    expect([...seen].sort()).toEqual(
      ['outbox', 'run T~r', `thread ${threadId}`, 'timer escalate T~r'].sort(),
    );
  });

  test('leaves alone what became due only now', async () => {
    const { redis, store } = bench();
    const { queue } = openTestQueue(bench(), { sweep: { everyMs: 20, overdueMs: 3_600_000 } });
    const answered: string[] = [];
    await queue.start(handlers({ ...answering(store, answered), run: async (id) => void answered.push(id) }));
    await say(store, newThreadId());
    await redis.client.zadd(`{${redis.prefix}}:timers`, 0, 'run|T~old');
    await until('the old one is found in several sweeps', () => answered.length >= 5);
    expect(new Set(answered)).toEqual(new Set(['T~old']));
  });

  test('what fails every time does not hide what lies behind it', async () => {
    const { redis } = bench();
    const { queue } = openTestQueue(bench(), { sweep: { ...OFTEN, limit: 1 } });
    const timers = `{${redis.prefix}}:timers`;
    await redis.client.zadd(timers, 1, 'run|T~bad1', 2, 'run|T~bad2', 3, 'run|T~bad3', 4, 'run|T~good');
    const seen: string[] = [];
    await queue.start(
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
    const { queue } = openTestQueue(bench(), { sweep: OFTEN, concurrency: { run: 2 }, stopWithinMs: 50 });
    await redis.client.zadd(`{${redis.prefix}}:timers`, 1, 'run|T~slow', 2, 'run|T~1', 3, 'run|T~2');
    const seen: string[] = [];
    await queue.start(
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

  test('goes on after it could not look', async () => {
    const { store } = bench();
    const threadId = newThreadId();
    await say(store, threadId);
    let refusals = 0;
    const answered: string[] = [];
    const { queue, warnings } = openTestQueue(bench(), {
      sweep: OFTEN,
      store: {
        async due(options) {
          if (refusals++ === 0) throw new Error('out of order');
          return store.due(options);
        },
      },
    });
    await queue.start(handlers(answering(store, answered)));
    await until('the thread is answered', () => answered.length === 1);
    expect(warnings[0]?.message).toBe('The sweep could not look for due work.');
  });
});
