import { expect, test } from 'vitest';
import { MESSAGE_VERSION, type Message } from '../../../src/agent/messages.ts';
import { isAskedAgain } from '../../../src/engine/asks/after-end.ts';
import { repliesTo } from '../../../src/engine/asks/replies-to.ts';
import { type Reason, writeReason } from '../../../src/engine/reasons.ts';
import { compileApprovalRules } from '../../../src/policy/rules.ts';
import { gate } from '../../../src/tools/gate.ts';
import { takesAnything } from '../../tools/gate/support.ts';

const LIMIT = {
  name: 'refunds',
  match: '',
  per: 'requester',
  windowMs: 60_000,
  max: 1,
  sum: undefined,
} as const;
const outside = {
  describeRefusal: ({ code }: Reason) => code,
  directory: { isPerson: () => true },
};
const execution = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Replies to a call whose request no longer holds for a reason. */
function replyAfter(reason: Reason) {
  const toolRequest = { name: 'pay', ref: 'c1', input: { cents: 5 } };
  const messages: Message[] = [
    { v: MESSAGE_VERSION, role: 'model', content: [{ toolRequest, idempotencyKey: 'key' }] },
    { v: MESSAGE_VERSION, role: 'tool', content: [{ interrupt: { id: 'pause', toolRequest } }] },
  ];
  const payload = writeReason(reason);
  const settled = [{ requestId: 'C1:1.2~pause', state: 'superseded', by: '', payload }] as const;
  const pay = gate(takesAnything('pay').tool, compileApprovalRules([{ policy: 'default' }]));
  return repliesTo(outside, settled, messages, [pay]);
}

test.each<[Reason]>([
  [{ code: 'quorum-lost' }],
  [{ code: 'unproven', people: ['U1'] }],
  [{ code: 'stale-approval' }],
  [{ code: 'changed' }],
  [{ code: 'held' }],
  [{ code: 'over-limit', limit: { ...LIMIT, policy: 'strict' } }],
])('after %j the call is judged anew, and people are asked again', (reason) => {
  const { restart, close } = replyAfter(reason);
  expect(restart).toHaveLength(1);
  expect(close).toEqual([]);
  expect(isAskedAgain({ payload: writeReason(reason), execution })).toBe(true);
});

test.each<[Reason]>([
  [{ code: 'frozen', reason: '' }],
  [{ code: 'over-limit', limit: { ...LIMIT, policy: undefined } }],
  [{ code: 'changed', change: { what: 'denied', reason: 'no' } }],
])('after %j the call is judged anew, and its rules deny it', (reason) => {
  expect(replyAfter(reason).restart).toHaveLength(1);
  expect(isAskedAgain({ payload: writeReason(reason), execution })).toBe(false);
});

test.each<[Reason]>([[{ code: 'requester-inactive' }], [{ code: 'not-allowed' }]])(
  'after %j the call ends, and nobody is asked again',
  (reason) => {
    const { restart, close } = replyAfter(reason);
    expect(restart).toEqual([]);
    expect(close).toMatchObject([{ metadata: { interruptId: 'pause', status: 'superseded' } }]);
    expect(isAskedAgain({ payload: writeReason(reason), execution })).toBe(false);
  },
);

test('a caller that comes too late asks again by itself', () => {
  const late = { payload: writeReason({ code: 'stale-approval' }) };
  expect(isAskedAgain({ ...late, execution })).toBe(true);
  expect(isAskedAgain({ ...late, execution: { ...execution, elsewhere: true } })).toBe(false);
});
