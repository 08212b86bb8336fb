import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/agent/json.ts';
import { callbackPart } from '../../../src/bot/inbox/callbacks.ts';
import { type CallbackTarget, CallbackUrls } from '../../../src/bot/slack/callback-urls.ts';
import { toDetails } from '../../../src/engine/request-details.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { beginTurn, newRequest, newThreadId, suspendTurn, takeTurn } from '../../store/support.ts';
import { pauseMetadata } from '../../support/pause-metadata.ts';
import { presentedAs } from '../../support/presented-as.ts';
import { connectTestRedis } from '../../support/redis.ts';
import { serverForTest } from '../slack/support.ts';

const RESULT = {
  type: 'object',
  properties: { build: { type: 'object', properties: { number: { type: 'integer' } } } },
  required: ['build'],
};

interface Waiting {
  readonly idempotencyKey?: string;
  readonly expiresInMs?: number;
  readonly kind?: 'callback' | 'form';
}

/** The bot's server on a real record, with one thread; what a test posts goes through it. */
async function bench() {
  const redis = connectTestRedis();
  onTestFinished(redis.close);
  const store = openRedisStore(redis);
  const callbacks = new CallbackUrls('', 'a secret');
  const parts = { store, callbacks, logger: pino({ level: 'silent' }), toolbox: { find: () => undefined } };
  const { url } = await serverForTest({ parts: [callbackPart(parts)] });
  const threadId = newThreadId();
  const idempotencyKey = randomUUID();

  return {
    store,
    threadId,
    address: (target: Partial<CallbackTarget> = {}, expiresAt?: number) =>
      callbacks.make({ threadId, idempotencyKey, ...target }, expiresAt),
    /** Pauses the thread for a call-back, and gives the id of the request. */
    async pause({
      idempotencyKey: key = idempotencyKey,
      expiresInMs = 60_000,
      kind = 'callback',
    }: Waiting = {}) {
      const toolRequest = {
        name: 'wait_for_callback',
        ref: 'call-1',
        input: { awaited: 'CI', result: RESULT },
      };
      const metadata = pauseMetadata(toolRequest.name, toolRequest.input) ?? {};
      const interrupt = { id: randomUUID(), toolRequest, metadata };
      const presented = presentedAs('Wait for CI');
      const details: JsonObject = toDetails({ toolRequest, idempotencyKey: key }, interrupt, {
        presented,
        facets: {},
      });
      const request = newRequest(threadId, { kind, details, policy: { expiresInMs } }, interrupt.id);
      await suspendTurn(store, await beginTurn(store, threadId), { requests: [request] });
      return request.id;
    },
    async post(address: string, body: unknown) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await fetch(url + address, { method: 'POST', body: text });
      const { ok, error } = JSON.parse(await answer.text());
      return { status: answer.status, ok, error, retryAfter: answer.headers.get('retry-after') };
    },
    async stateOf(requestId: string) {
      const loaded = await store.load(requestId);
      if (loaded.outcome !== 'found') throw new Error(`The request is ${loaded.outcome}`);
      return loaded.request;
    },
  };
}

const REPORT = { build: { number: 7 } };

test('a report that fits is on record, and the thread goes on with it', async () => {
  const { store, threadId, address, pause, post, stateOf } = await bench();
  const requestId = await pause();
  expect(await post(address(), REPORT)).toMatchObject({ status: 200, ok: true });
  const { state, by, payload } = await stateOf(requestId);
  expect([state, JSON.parse(payload ?? '')]).toEqual(['answered', REPORT]);
  expect(by).toMatch(/^callback:/);
  expect((await takeTurn(store, threadId)).settled).toMatchObject([{ requestId, state: 'answered' }]);
});

test('an address works once, also when the same call waits again', async () => {
  const { store, threadId, address, pause, post, stateOf } = await bench();
  await pause();
  const used = address();
  await post(used, REPORT);
  expect(await post(used, REPORT)).toMatchObject({ status: 410, error: expect.stringContaining('once') });

  await suspendTurn(store, await takeTurn(store, threadId));
  const second = await pause();
  expect(await post(used, REPORT)).toMatchObject({ status: 410 });
  expect((await stateOf(second)).state).toBe('pending');
  expect(await post(address(), REPORT)).toMatchObject({ status: 200 });
});

test('of two different reports at once one is on record, and the other sender is told', async () => {
  const { address, pause, post, stateOf } = await bench();
  const requestId = await pause();
  const reports = [1, 2, 3, 4, 5].map((number) => ({ build: { number } }));
  const answers = await Promise.all(reports.map((report) => post(address(), report)));
  const winners = answers.flatMap(({ status }, index) => (status === 200 ? [reports[index]] : []));
  expect(winners).toEqual([JSON.parse((await stateOf(requestId)).payload ?? '')]);
  expect(
    answers.filter(({ status }) => status !== 200).map(({ status }) => [409, 410].includes(status)),
  ).toEqual(Array(4).fill(true));
});

test.each([
  ['is not JSON', '{"build":', /not JSON/],
  ['is empty', '', /not JSON/],
  ['is nested too deep', '['.repeat(50_000) + ']'.repeat(50_000), /too deep/],
  ['lacks what is awaited', {}, /: build: /],
  ['has a wrong value', { build: { number: 'seven' } }, /: build\.number: must be integer/],
])('a body that %s is refused, says where, and leaves the address good', async (_what, body, words) => {
  const { address, pause, post, stateOf } = await bench();
  const requestId = await pause();
  const url = address();
  expect(await post(url, body)).toMatchObject({ status: 400, error: expect.stringMatching(words) });
  expect((await stateOf(requestId)).state).toBe('pending');
  expect(await post(url, REPORT)).toMatchObject({ status: 200 });
});

test('an address that was not made here is refused, whatever it says', async () => {
  const { address, pause, post, stateOf, threadId } = await bench();
  const requestId = await pause();
  const [claim = '', signature = ''] = address().replace('/callback/', '').split('.');
  const other = Buffer.from(JSON.stringify([threadId, 'another', Date.now() + 9_999, 'x'])).toString(
    'base64url',
  );
  const forged = ['nonsense', claim, `${claim}.`, `${other}.${signature}`, `${claim}.${signature}.more`];
  const foreign = new CallbackUrls('', 'another secret').make({ threadId, idempotencyKey: 'key' });
  for (const token of [...forged, foreign.replace('/callback/', '')]) {
    expect(await post(`/callback/${token}`, REPORT)).toMatchObject({ status: 401, ok: false });
  }
  expect((await stateOf(requestId)).state).toBe('pending');
});

test('an address is good while its request waits, whatever this process takes for the time', async () => {
  const { address, pause, post, stateOf } = await bench();
  const requestId = await pause();
  const old = address({}, Date.now() - 86_400_000);
  expect(await post(old, REPORT)).toMatchObject({ status: 200 });
  expect((await stateOf(requestId)).state).toBe('answered');
});

test.each<[string, (store: Store, requestId: string) => Promise<unknown>, object]>([
  ['pending', async () => {}, { status: 200 }],
  [
    'expired',
    (store, requestId) => store.end(requestId, { state: 'expired' }),
    { status: 410, error: expect.stringContaining('expired') },
  ],
  [
    'withdrawn',
    (store, requestId) =>
      store.end(requestId, { state: 'withdrawn', who: 'U-rita', evidence: {}, reason: 'not needed' }),
    { status: 410, error: expect.stringContaining('withdrawn') },
  ],
])('an address that names its request tells the sender when that is %s', async (state, end, answer) => {
  const { store, address, pause, post, stateOf } = await bench();
  const requestId = await pause(state === 'expired' ? { expiresInMs: 0 } : {});
  await end(store, requestId);
  expect((await stateOf(requestId)).state).toBe(state);
  expect(await post(address({ requestId }), REPORT)).toMatchObject(answer);
});

test('a request whose time is over takes no report', async () => {
  const { address, pause, post, stateOf } = await bench();
  const requestId = await pause({ expiresInMs: 0 });
  expect(await post(address(), REPORT)).toMatchObject({
    status: 410,
    error: expect.stringContaining('deadline'),
  });
  expect((await stateOf(requestId)).state).toBe('pending');
});

test('a report that is faster than the thread is asked to come again, and is then taken', async () => {
  const { address, pause, post } = await bench();
  const url = address();
  expect(await post(url, REPORT)).toMatchObject({ status: 409, retryAfter: '15' });
  await pause();
  expect(await post(url, REPORT)).toMatchObject({ status: 200 });
});

test('a report answers only the call that its address is for, and only where a call-back is awaited', async () => {
  const { address, pause, post, stateOf } = await bench();
  const other = await pause({ idempotencyKey: randomUUID() });
  expect(await post(address(), REPORT)).toMatchObject({ status: 409 });
  expect((await stateOf(other)).state).toBe('pending');
});

test('a form is not answered by a call-back', async () => {
  const { address, pause, post, stateOf } = await bench();
  const form = await pause({ kind: 'form' });
  expect(await post(address(), REPORT)).toMatchObject({ status: 409 });
  expect((await stateOf(form)).state).toBe('pending');
});
