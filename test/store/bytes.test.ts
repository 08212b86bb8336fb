import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BroughtUpRedis, bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { type Message, parseMessage } from '../../src/agent/messages.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import {
  approve,
  attempt,
  beginTurn,
  message,
  newRequest,
  outcome,
  suspendTurn,
  takeTurn,
} from './support.ts';

const AT_ONCE = 500;

// Of its own, so that its counters count nothing else; persistent, so that what reaches the disk is counted as well.
let server: BroughtUpRedis;
let client: Redis;
let store: Store;

beforeAll(async () => {
  server = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' }, persistent: true });
  client = new Redis(server.url);
  store = openRedisStore({ client });
});

afterAll(async () => {
  await store.close();
  await server.stop();
});

async function counter(section: string, name: string): Promise<number> {
  const found = new RegExp(`^${name}:(\\d+)`, 'm').exec(await client.info(section))?.[1];
  if (found === undefined) throw new Error(`Redis has no counter ${name}`);
  return Number(found);
}

/** The bytes in Redis's append-only file; on a slow disk Redis delays writes by up to two seconds. */
async function keptBytes(): Promise<number> {
  await expect.poll(() => counter('persistence', 'aof_buffer_length')).toBe(0);
  return counter('persistence', 'aof_current_size');
}

type Write = (text: string) => Message;

/** Writes an answer with the encrypted reasoning that came with it. */
const reasoned: Write = (text) =>
  parseMessage({
    v: 2,
    role: 'model',
    content: [{ text }],
    provider: {
      origin: 'responses api.openai.com/v1 gpt-6-luna',
      data: {
        items: [
          { type: 'reasoning', id: 'rs_1', encrypted_content: `gAAAA${'x'.repeat(2_000)}` },
          { type: 'message', id: 'msg_1', length: text.length },
        ],
      },
    },
  });

async function fill(threadId: string, length: number, write: Write): Promise<void> {
  for (let written = 0; written < length; written += AT_ONCE) {
    const messages = Array.from({ length: Math.min(AT_ONCE, length - written) }, (_, index) =>
      write(`This is message ${written + index} of a long conversation.`),
    );
    await suspendTurn(store, await beginTurn(store, threadId), { messages });
  }
}

/** A turn that asks, is approved, runs, and goes on to its end. */
async function wholeTurn(threadId: string, write: Write = message): Promise<void> {
  const request = newRequest(threadId);
  const turn = await beginTurn(store, threadId);
  await suspendTurn(store, turn, { messages: [message('please'), write('asking')], requests: [request] });
  await store.vote(request.id, approve('U-ann'));
  await store.start(request.id, attempt('first'));
  await store.finish(request.id, outcome('first'));
  await suspendTurn(store, await takeTurn(store, threadId), { messages: [write('done')] });
}

async function bytesOfTurn(
  threadId: string,
  length: number,
  write: Write = message,
): Promise<{ received: number; kept: number }> {
  await fill(threadId, length, write);
  const before = {
    kept: await keptBytes(),
    received: await counter('stats', 'total_net_input_bytes'),
  };
  await wholeTurn(threadId, write);
  return {
    received: (await counter('stats', 'total_net_input_bytes')) - before.received,
    kept: (await keptBytes()) - before.kept,
  };
}

test('a turn in a thread of 10,000 messages writes as much as in a thread of 10', async () => {
  await wholeTurn('T-first');
  const short = await bytesOfTurn('T-short', 10);
  const long = await bytesOfTurn('T-long-', 10_000);
  expect((await beginTurn(store, 'T-long-')).messages).toHaveLength(10_004);
  expect(short.received).toBeGreaterThan(1000);
  expect(short.kept).toBeGreaterThan(1000);
  expect(Math.abs(long.received / short.received - 1)).toBeLessThan(0.05);
  expect(Math.abs(long.kept / short.kept - 1)).toBeLessThan(0.05);
});

test('a turn with reasoning in a thread of 2,000 messages writes as much as in a thread of 10', async () => {
  await wholeTurn('T-zeroth', reasoned);
  const short = await bytesOfTurn('T-brief', 10, reasoned);
  const long = await bytesOfTurn('T-large', 2_000, reasoned);
  expect(short.received).toBeGreaterThan(4_000);
  expect(Math.abs(long.received / short.received - 1)).toBeLessThan(0.05);
  expect(Math.abs(long.kept / short.kept - 1)).toBeLessThan(0.05);
});
