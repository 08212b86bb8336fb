import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../private-redis.ts';
import { newThreadId } from '../support.ts';
import { NEVER, openTestQueue, prepareBenches, say, wakingStore } from './queue-support.ts';

const bench = prepareBenches();

describe('two processes', () => {
  interface ProcessOrder {
    readonly name: string;
    readonly sweepEveryMs: number;
    readonly leaseMs?: number;
    readonly hangs?: boolean;
  }

  /** Starts a process that answers threads, and resolves when it does. */
  async function startProcess(order: ProcessOrder): Promise<{ child: ChildProcess; lines: string[] }> {
    const { redis } = bench();
    const script = fileURLToPath(new URL('./queue-process.ts', import.meta.url));
    const full = { url: redis.url, prefix: redis.prefix, leaseMs: 60_000, hangs: false, ...order };
    const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(full)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await until(`the process ${order.name} is ready`, () => lines.includes('ready'));
    return { child, lines };
  }

  /** Deletes everything that BullMQ has, and nothing of the record. */
  async function deleteJobs(): Promise<number> {
    const { redis } = bench();
    const keys = await redis.client.keys(`{${redis.prefix}}:queue:*`);
    return keys.length === 0 ? 0 : redis.client.unlink(keys);
  }

  async function answered(): Promise<string[][]> {
    const { redis } = bench();
    const rows = await redis.client.lrange(`${redis.prefix}answered`, 0, -1);
    return rows.map((row) => row.split(' '));
  }

  async function allAnswered(threadIds: readonly string[]): Promise<void> {
    await until(`${threadIds.length} threads are answered`, async () => {
      return (await answered()).length >= threadIds.length;
    });
    expect((await answered()).map(([, threadId]) => threadId).sort()).toEqual([...threadIds].sort());
  }

  test('share the work, and each thread is answered once', async () => {
    const { queue } = openTestQueue(bench());
    await Promise.all(['A', 'B'].map((name) => startProcess({ name, sweepEveryMs: NEVER.everyMs })));
    const waking = wakingStore(bench(), queue);
    const threadIds: string[] = [];
    const names = async () => new Set((await answered()).map(([name]) => name));
    // On a busy machine one may have answered all before the other was given any.
    while ((await names()).size < 2) {
      const more = Array.from({ length: 60 }, newThreadId);
      threadIds.push(...more);
      await Promise.all(more.map((threadId) => say(waking, threadId)));
      await allAnswered(threadIds);
    }
    expect(await names()).toEqual(new Set(['A', 'B']));
  });

  test('answer every thread although every job is deleted all the time', async () => {
    const { queue } = openTestQueue(bench());
    await Promise.all(['A', 'B'].map((name) => startProcess({ name, sweepEveryMs: 200 })));
    const waking = wakingStore(bench(), queue);
    const threadIds = Array.from({ length: 60 }, newThreadId);
    let deleted = 0;
    for (const threadId of threadIds) {
      await say(waking, threadId);
      deleted += await deleteJobs();
    }
    expect(deleted).toBeGreaterThan(0);
    await until('all are answered', async () => {
      await deleteJobs();
      return (await answered()).length >= threadIds.length;
    });
    await allAnswered(threadIds);
  });

  test('go on with new jobs after the old ones were deleted under them', async () => {
    const { queue } = openTestQueue(bench());
    await startProcess({ name: 'A', sweepEveryMs: NEVER.everyMs });
    const waking = wakingStore(bench(), queue);
    const [first, second] = [newThreadId(), newThreadId()];
    await say(waking, first);
    await allAnswered([first]);
    expect(await deleteJobs()).toBeGreaterThan(0);
    await say(waking, second);
    await allAnswered([first, second]);
  });

  test('one that is killed in the middle leaves its thread to the other', async () => {
    const { queue } = openTestQueue(bench());
    const dying = await startProcess({
      name: 'dying',
      sweepEveryMs: NEVER.everyMs,
      leaseMs: 300,
      hangs: true,
    });
    const threadId = newThreadId();
    await say(wakingStore(bench(), queue), threadId);
    await until('it holds the thread', () => dying.lines.includes(`holds ${threadId}`));
    await startProcess({ name: 'other', sweepEveryMs: 100 });
    dying.child.kill('SIGKILL');
    await allAnswered([threadId]);
    expect(await answered()).toEqual([['other', threadId]]);
  });
});
