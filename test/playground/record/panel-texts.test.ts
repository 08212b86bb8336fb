import { describe, expect, test } from 'vitest';
import type { RecordedRequest, RecordedRow, ThreadRecord } from '../../../playground/record-protocol.ts';
import {
  describeDetail,
  describeRow,
  gapBefore,
} from '../../../playground/web/src/record-panel/describe-row.ts';
import { describeQueue, describeThread } from '../../../playground/web/src/record-panel/describe-thread.ts';
import { formatDuration, formatTimer } from '../../../playground/web/src/record-panel/format-time.ts';
import { partsOf, roleOf } from '../../../playground/web/src/record-panel/message-parts.ts';
import { statePath } from '../../../playground/web/src/record-panel/state-path.ts';

function requestWith(changes: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id: 'C1:1.2~a',
    kind: 'approval',
    state: 'pending',
    revision: 1,
    tool: 'refund_order',
    input: {},
    requester: 'U1',
    digest: 'd',
    principals: ['U2'],
    quorum: 1,
    votes: [],
    createdAt: 0,
    expiresAt: 60_000,
    attempts: 0,
    isIdempotent: false,
    timers: [],
    views: [],
    ...changes,
  };
}

function rowWith(changes: Partial<RecordedRow> = {}): RecordedRow {
  return {
    seq: 1,
    at: 1,
    event: 'asked',
    subject: 'C1:1.2~a',
    detail: '',
    body: '',
    hash: 'h1',
    previousHash: '',
    ...changes,
  };
}

function recordWith(changes: Partial<ThreadRecord> = {}): ThreadRecord {
  return {
    threadId: 'C1:1.2',
    state: 'idle',
    unread: 0,
    requests: [],
    audit: [],
    chain: { rows: 0, problems: [] },
    messages: [],
    now: 0,
    ...changes,
  };
}

const names: Readonly<Record<string, string>> = {
  U1: 'Remi',
  U2: 'Alice',
  UREMI0001: 'Remi',
  UALICE002: 'Alice',
};
const name = (id: string): string => names[id] ?? id;

describe('times', () => {
  test.each([
    [0, '0:00'],
    [-5_000, '0:00'],
    [192_999, '3:12'],
    [3_792_000, '1:03:12'],
    [47 * 3_600_000, '47:00:00'],
    [48 * 3_600_000, '2 days'],
  ])('%i ms are %s', (milliseconds, words) => {
    expect(formatDuration(milliseconds)).toBe(words);
  });

  test('a timer counts down with the given clock until it is due', () => {
    expect(formatTimer({ kind: 'expire', at: 200_000 }, 8_000)).toBe('expires in 3:12');
    expect(formatTimer({ kind: 'remind', at: 200_000 }, 200_000)).toBe('reminder now');
  });
});

describe('the states of a request', () => {
  const statesOf = (state: string, events: readonly string[], changes: Partial<RecordedRequest> = {}) =>
    statePath(
      requestWith({ state, ...changes }),
      events.map((line, index) => {
        const [event = '', detail = ''] = line.split('/');
        return rowWith({ event, detail, seq: index + 1 });
      }),
    ).map((step) => (step.isReached ? step.state : `(${step.state})`));

  test.each([
    ['pending', ['asked', 'voted'], 'pending (approved) (started) (succeeded)'],
    ['started', ['asked', 'voted', 'approved', 'started'], 'pending approved started (succeeded)'],
    ['succeeded', ['asked', 'approved', 'started', 'succeeded'], 'pending approved started succeeded'],
    ['rejected', ['asked', 'voted', 'rejected'], 'pending rejected'],
    ['withdrawn', ['asked', 'approved', 'withdrawn'], 'pending approved withdrawn'],
    ['failed', ['asked', 'abandoned'], 'pending failed'],
    ['unknown', ['asked', 'approved', 'started', 'unknown'], 'pending approved started unknown (resolved)'],
    [
      'approved',
      ['asked', 'approved', 'started', 'unknown', 'resolved/run-again U2'],
      'pending approved started unknown approved (started) (succeeded)',
    ],
    [
      'resolved',
      ['asked', 'approved', 'started', 'unknown', 'resolved/ran U2'],
      'pending approved started unknown resolved',
    ],
    ['expired', [], 'expired'],
  ])('%s after %j', (state, events, words) => {
    expect(statesOf(state, events).join(' ')).toBe(words);
  });

  test('a question goes from pending to answered', () => {
    expect(statesOf('pending', ['asked'], { kind: 'question' })).toEqual(['pending', '(answered)']);
  });

  test('rows of another request are ignored', () => {
    const rows = [rowWith(), rowWith({ event: 'rejected', subject: 'C1:1.2~b' })];
    expect(statePath(requestWith({ kind: 'form' }), rows).map(({ state }) => state)).toEqual([
      'pending',
      'answered',
    ]);
  });
});

describe('the thread state', () => {
  test('names the missing approvals and answers', () => {
    const vote = { who: 'U2', at: 1 };
    const requests = [
      requestWith({ quorum: 3, votes: [{ ...vote, decision: 'approve' }] }),
      requestWith({ kind: 'question' }),
      requestWith({ state: 'succeeded' }),
    ];
    expect(describeThread(recordWith({ state: 'waiting', requests }), 0)).toBe(
      'Waiting for 2 approvals, and for an answer.',
    );
  });

  test('an unknown outcome waits to be confirmed', () => {
    const record = recordWith({ state: 'waiting', requests: [requestWith({ state: 'unknown' })] });
    expect(describeThread(record, 0)).toBe('Waiting for a confirmed outcome.');
  });

  test('describes a live and an expired lease', () => {
    const record = recordWith({ state: 'working', lease: { token: '7', until: 30_000 }, unread: 1 });
    expect(describeThread(record, 10_000)).toContain('token 7). Its lease ends in 0:20');
    expect(describeThread(record, 40_000)).toContain('ended 0:10 ago');
  });

  test('mentions queued messages once', () => {
    expect(describeThread(recordWith({ unread: 2 }), 0)).toBe('2 messages are waiting for a worker.');
    expect(describeQueue(recordWith({ unread: 2 }))).toBe('');
    expect(describeQueue(recordWith({ state: 'waiting', unread: 1 }))).toBe(
      '1 message is queued and will be read later.',
    );
  });

  test('a quarantined thread shows the reason', () => {
    expect(describeThread(recordWith({ state: 'quarantined', reason: 'no good state' }), 0)).toBe(
      'Quarantined: no good state',
    );
  });
});

describe('an audit row', () => {
  test.each([
    [{ event: 'voted', detail: 'approve UALICE002 1 of 1' }, 'Alice approved (1 of 1)'],
    [{ event: 'asked', body: '{"requester":"UREMI0001"}' }, 'Remi asked'],
    [{ event: 'approved', detail: '1 of 1' }, 'Approved: quorum reached (1 of 1)'],
    [{ event: 'retried', detail: 'after try 1' }, 'Retried after a crash'],
    [{ event: 'expired' }, 'Expired with no decision'],
    [{ event: 'started', detail: 'try 2 x', body: 'not json' }, 'Started again (attempt 2)'],
    [{ event: 'not-known' }, 'not-known'],
  ])('%j is described as %j', (changes, words) => {
    expect(describeRow(rowWith(changes), name)).toBe(words);
  });

  test('names people and shortens ids', () => {
    const detail = 'try 1 U2 6b1f0c1e-0000-4000-8000-123456789012';
    expect(describeDetail(rowWith({ detail }), name)).toBe('try 1 Alice 6b1f0c1e…');
  });

  test('is adjacent, after rows of other threads, or after missing rows', () => {
    const above = rowWith({ seq: 4, hash: 'h4' });
    expect(gapBefore(rowWith({ seq: 5, previousHash: 'h4' }), above)).toBeUndefined();
    expect(gapBefore(rowWith({ seq: 7, previousHash: 'h6' }), above)).toEqual({
      kind: 'elsewhere',
      text: 'rows 5 to 6 are not about this thread',
    });
    expect(gapBefore(rowWith({ seq: 6, previousHash: 'h4' }), above)).toEqual({
      kind: 'missing',
      text: 'row 5 is missing',
    });
  });
});

describe("a message of the model's", () => {
  test('is split into text, calls, results and pauses; unknown parts are left out', () => {
    const toolRequest = { name: 'refund_order', ref: 'c1', input: { amount: 0 } };
    const content = [
      { text: 'I will.' },
      { toolRequest, idempotencyKey: 'k' },
      { toolResponse: { name: 'refund_order', ref: 'c1', output: null }, status: 'ok' },
      { interrupt: { id: 'p', toolRequest } },
      { picture: 1 },
      null,
    ];
    expect(partsOf({ v: 1, role: 'model', content })).toEqual([
      { kind: 'text', text: 'I will.' },
      { kind: 'call', tool: 'refund_order', input: { amount: 0 } },
      { kind: 'result', tool: 'refund_order', status: 'ok', output: null },
      { kind: 'pause', tool: 'refund_order' },
    ]);
  });

  test('that cannot be read is shown as its text', () => {
    const damaged = { role: 'unreadable', text: 'not json' };
    expect([roleOf(damaged), partsOf(damaged)]).toEqual(['Unreadable', [{ kind: 'text', text: 'not json' }]]);
  });
});
