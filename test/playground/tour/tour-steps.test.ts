import { expect, test } from 'vitest';
import type { RecordedRequest } from '../../../playground/record-protocol.ts';
import { CAST } from '../../../playground/slack/default-cast.ts';
import { type TourFacts, tourSteps } from '../../../playground/tour/tour-steps.ts';
import { ACTS, MORE_STEPS, SLOW_ORDER } from '../../../playground/tour/tour-texts.ts';
import { nonEmpty } from '../../support/non-empty.ts';

const request = (changes: Partial<RecordedRequest>): RecordedRequest => ({
  id: 'C1:100.000001~a',
  kind: 'approval',
  state: 'pending',
  revision: 1,
  tool: 'refund_order',
  input: { orderId: 'A-1001', amount: 12_000 },
  requester: CAST.requester,
  digest: '',
  principals: [],
  quorum: 1,
  votes: [],
  createdAt: 1,
  expiresAt: 2,
  attempts: 0,
  isIdempotent: true,
  timers: [],
  views: [],
  ...changes,
});

const steps = (facts: Partial<TourFacts>) =>
  tourSteps({ requests: [], kills: 0, refunds: [], openings: [], ...facts });
const done = (facts: Partial<TourFacts>) =>
  steps(facts)
    .filter(({ isDone }) => isDone)
    .map(({ id }) => id);
const entry = (amount: number, orderId = 'A-1001') => ({ orderId, amount });
const ran = { state: 'succeeded', attempts: 1 };

test('no prompt contains another, so that a thread identifies its step', () => {
  const prompts = [...ACTS, ...MORE_STEPS].map(({ prompt }) => prompt);
  for (const prompt of nonEmpty(prompts))
    expect(prompts.filter((other) => other.includes(prompt))).toEqual([prompt]);
});

test('a refund booked without a request is the small one; an approved one is not', () => {
  expect(done({ refunds: [entry(2_000)] })).toEqual(['small-refund']);
  expect(done({ refunds: [entry(12_000)], requests: [request(ran)] })).toEqual(['approved-refund']);
  expect(done({ refunds: [entry(2_000)], requests: [request({ state: 'failed', attempts: 1 })] })).toEqual([
    'small-refund',
  ]);
});

test('a superseded request with the same input was not edited', () => {
  const first = request({ state: 'superseded', id: 'C1:100.000001~b' });
  const second = request({ ...ran, createdAt: 2 });
  expect(done({ refunds: [entry(1)], requests: [first, second] })).toEqual(['approved-refund']);
  const edited = { ...second, input: { orderId: 'A-1001', amount: 11_000 } };
  expect(done({ refunds: [entry(1)], requests: [first, edited] })).toEqual(['edit']);
  expect(done({ refunds: [entry(1)], requests: [{ ...first, id: 'C1:200.000001~b' }, edited] })).toEqual([
    'approved-refund',
  ]);
});

test('two votes of one person are not two people', () => {
  const vote = (who: string) => ({ who, decision: 'approve', at: 1 });
  const deletion = (...votes: RecordedRequest['votes']) =>
    done({ requests: [request({ tool: 'delete_customer', ...ran, votes })] });
  expect(deletion(vote('U1'), vote('U1'))).toEqual([]);
  expect(deletion(vote('U1'), { ...vote('U2'), decision: 'reject' })).toEqual([]);
  expect(deletion(vote('U1'), vote('U2'))).toEqual(['two-people']);
});

test('only an approval with a signature is one with a passkey', () => {
  const vote = { who: 'U1', decision: 'approve', at: 1 };
  const deployment = (votes: RecordedRequest['votes']) =>
    done({ requests: [request({ tool: 'deploy_service', ...ran, votes })] });
  expect(deployment([vote])).toEqual([]);
  expect(deployment([{ ...vote, proof: {} }])).toEqual(['passkey']);
});

test('only a deployment that was interrupted is a recovery', () => {
  const deployment = (changes: Partial<RecordedRequest>) =>
    done({ kills: 1, requests: [request({ tool: 'deploy_service', ...changes })] });
  expect(deployment(ran)).toEqual([]);
  expect(deployment({ state: 'unknown', attempts: 1 })).toEqual([]);
  expect(deployment({ state: 'started', attempts: 2 })).toEqual([]);
  expect(deployment({ state: 'resolved', attempts: 1 })).toEqual(['kill']);
  expect(deployment({ state: 'succeeded', attempts: 2 })).toEqual(['kill']);
});

test('a refund that was tried again ran once, and the ledger is its proof', () => {
  const input = { orderId: SLOW_ORDER, amount: 25_000 };
  const retried = request({ state: 'succeeded', attempts: 2, input });
  const plug = (...refunds: TourFacts['refunds']) =>
    steps({ refunds, kills: 1, requests: [retried] }).find(({ id }) => id === 'plug');
  expect(plug(entry(25_000, SLOW_ORDER), entry(2_000))).toMatchObject({
    isDone: true,
    result: 'Ran once, after 1 restart.',
    ledger: [entry(25_000, SLOW_ORDER)],
  });
  expect(plug(entry(1, SLOW_ORDER), entry(2, SLOW_ORDER))?.result).toBe(
    '2 ledger entries for 1 approved payment.',
  );
});

test('an expired question does not complete the expiry step', () => {
  expect(done({ requests: [request({ kind: 'question', tool: 'ask_question', state: 'expired' })] })).toEqual(
    [],
  );
  expect(done({ requests: [request({ state: 'expired' })] })).toEqual(['expiry']);
});

test('a step links to the newest thread in which it was started, or else to the one in which it was done', () => {
  const prompt = ACTS.find(({ id }) => id === 'approved-refund')?.prompt;
  const opening = (threadId: string) => ({ threadId, text: `<@U1> ${prompt}` });
  const threadFor = (...openings: TourFacts['openings']) =>
    steps({ openings, requests: [request(ran)] }).find(({ id }) => id === 'approved-refund')?.thread;
  expect(threadFor()).toBe('C1:100.000001');
  expect(threadFor(opening('C1:99.000009'))).toBe('C1:99.000009');
  expect(threadFor(opening('C1:99.000009'), opening('C1:101.000001'))).toBe('C1:101.000001');
});
