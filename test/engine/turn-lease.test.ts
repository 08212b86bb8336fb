import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { defineTool } from '../../src/agent/define-tool.ts';
import { MESSAGE_VERSION, type Message, userMessage } from '../../src/agent/messages.ts';
import type { EngineContext } from '../../src/engine/ports.ts';
import { TurnJournal } from '../../src/engine/turn-journal.ts';
import { TurnLease } from '../../src/engine/turn-lease.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { beginTurn, newThreadId } from '../store/support.ts';
import { connectTestRedis } from '../support/redis.ts';
import { manifestOf, openTools } from '../tools/toolbox/support.ts';

const LEASE_MS = 200;
const write = defineTool({ name: 'write', description: 'Writes.' }, () => 'written');
const call = { toolRequest: { name: 'write', ref: 'call-1', input: {} }, idempotencyKey: 'key-1' };
const messages: Message[] = [
  userMessage('go', { user: 'U0RITA001', role: 'requester' }),
  { v: MESSAGE_VERSION, role: 'model', content: [call] },
];

afterEach(() => {
  vi.useRealTimers();
});

function newLease(sentAt = performance.now()) {
  const controller = new AbortController();
  const lease = new TurnLease(LEASE_MS, sentAt, controller, new AbortController().signal);
  return { lease, signal: controller.signal };
}

/** A turn whose lease on record lasts a minute, with the lease that its process counts by itself. */
async function startJournal() {
  const redis = connectTestRedis();
  const store = openRedisStore(redis);
  const turn = await beginTurn(store, newThreadId());
  const toolbox = await openTools(manifestOf('  {}\n'));
  const { lease, signal } = newLease();
  const context: EngineContext = {
    ...{ store, toolbox, logger: pino({ level: 'silent' }) },
    people: {
      mayAllAsk: async () => true,
      checkApprovers: async () => ({ stillEligible: [], evidence: {} }),
    },
    describeRefusal: ({ code }) => code,
    tellOfGrant: async () => {},
  };
  const journal = new TurnJournal(context, turn, lease);
  const start = () => journal.start({ call, tool: write, input: {}, messages });
  const events = async () => {
    const found: string[] = [];
    for await (const { event, subject } of store.exportAudit())
      if (subject === turn.threadId) found.push(event);
    return found;
  };
  return { start, lease, signal, events, close: () => redis.close() };
}

test('an effect starts while the lease lasts by the clock of the process', async () => {
  const { start, events, close } = await startJournal();
  expect(await start()).toBe(true);
  expect(await events()).toEqual(['effect-started']);
  await close();
});

test('a turn stops before the next effect once its lease is over by its own clock, whatever the record says', async () => {
  const { start, signal, events, close } = await startJournal();
  await sleep(LEASE_MS + 20);
  expect(await start()).toBe(false);
  expect(signal.aborted).toBe(true);
  expect(await events()).toEqual([]);
  await close();
});

test('a renewal counts from when it was sent, not from when it was answered', async () => {
  const { lease } = newLease();
  const sentAt = performance.now();
  await sleep(LEASE_MS + 20);
  lease.renewed(sentAt);
  expect(lease.mayStart()).toBe(false);
});

test('a wall clock that is put forward or back ends no lease and prolongs none', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { lease } = newLease();
  vi.setSystemTime(Date.now() + 86_400_000);
  expect(lease.mayStart()).toBe(true);
  const over = newLease(performance.now() - LEASE_MS - 1);
  vi.setSystemTime(Date.now() - 2 * 86_400_000);
  expect(over.lease.mayStart()).toBe(false);
});
