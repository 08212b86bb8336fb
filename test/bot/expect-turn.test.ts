import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Message, readMessages, userMessage } from '../../src/agent/messages.ts';
import { expectTurn } from '../../src/bot/expect-turn.ts';
import type { Outcome } from '../../src/store/port.ts';

const SILENCE_MS = 30_000;
const FRESH_MS = 1_000;
const call = { name: 'refund_order', ref: 'call-1', input: { amount: 12_000 } };
const request = {
  id: 'C1:1.2~pause-1',
  threadId: 'C1:1.2',
  requester: 'U-rita',
  digest: 'digest-1',
  details: {},
  by: 'U-ann',
};
const result: Message = {
  v: 1,
  role: 'tool',
  content: [{ toolResponse: { name: call.name, ref: call.ref, output: { refunded: 12_000 } }, status: 'ok' }],
};
const outcome: Outcome = {
  attempt: 'first',
  state: 'succeeded',
  message: result,
  summary: { refunded: 12_000 },
};
const before: readonly Message[] = [
  userMessage('refund it', { user: 'U-rita' }),
  { v: 1, role: 'model', content: [{ toolRequest: call, idempotencyKey: 'key-1' }] },
  { v: 1, role: 'tool', content: [{ interrupt: { id: 'pause-1', toolRequest: call } }] },
];
const rows = before.map((message) => JSON.stringify(message));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** What is expected so long after the start, and how often the history was read for it. */
function expectAfter(passedMs: number, silenceMs = SILENCE_MS) {
  const history = vi.fn(() => readMessages(rows));
  const started = { attempt: 'first', sentAt: performance.now(), history };
  vi.advanceTimersByTime(passedMs);
  return { history, expected: expectTurn(request, outcome, started, silenceMs) };
}

test('the turn that follows has what was said before, the outcome after it, and nothing else', () => {
  const { expected } = expectAfter(0);
  expect(expected?.turn()).toEqual({
    threadId: 'C1:1.2',
    messages: [...before, result],
    inbox: [],
    settled: [
      {
        requestId: request.id,
        state: 'succeeded',
        by: 'U-ann',
        payload: JSON.stringify({ refunded: 12_000 }),
      },
    ],
  });
});

test('what was said before is read once, and not before somebody needs it', () => {
  const { expected, history } = expectAfter(0);
  expect(history).not.toHaveBeenCalled();
  const messages = expected?.messages();
  expect(expected?.messages()).toBe(messages);
  expect(expected?.turn()?.messages).toBe(messages);
  expect(history).toHaveBeenCalledOnce();
});

test('nothing is expected where the thread was not looked at', () => {
  const sentAt = performance.now();
  expect(expectTurn(request, outcome, { attempt: 'first', sentAt }, SILENCE_MS)).toBeUndefined();
});

test.each([
  { what: 'the look at the thread is no longer fresh', silenceMs: SILENCE_MS, lastMs: FRESH_MS - 1 },
  { what: 'the attempt may have been given up', silenceMs: 300, lastMs: 299 },
])('nothing is expected once $what', ({ silenceMs, lastMs }) => {
  expect(expectAfter(lastMs, silenceMs).expected).toBeDefined();
  const late = expectAfter(lastMs + 1, silenceMs);
  expect(late.expected).toBeUndefined();
  expect(late.history).not.toHaveBeenCalled();
});

test.each([
  { what: 'cannot be read', kept: ['{"v":1,"role":"tool"'] },
  { what: 'has no place for the outcome', kept: rows.slice(0, 1) },
])('no turn is expected after a history that $what, and it is read once all the same', ({ kept }) => {
  const history = vi.fn(() => readMessages(kept));
  const started = { attempt: 'first', sentAt: performance.now(), history };
  const expected = expectTurn(request, outcome, started, SILENCE_MS);
  expect(expected?.messages()).toBeUndefined();
  expect(expected?.turn()).toBeUndefined();
  expect(history).toHaveBeenCalledOnce();
});
