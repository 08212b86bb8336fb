import { expect, test } from 'vitest';
import { collectStats } from '../../../src/bot/inbox/policy-stats.ts';
import { homeTexts } from '../../../src/bot/views/texts/home.ts';
import type { AuditRow } from '../../../src/store/port/audit.ts';

const row = (event: string, subject: string, at: number, body = ''): AuditRow => ({
  v: 1,
  seq: at,
  at: at * 1000,
  event,
  subject,
  detail: '',
  body,
  hash: '',
});
const asked = (subject: string, policy: string, at: number) =>
  row('asked', subject, at, JSON.stringify({ policy_name: policy }));

async function* rowsOf(rows: readonly AuditRow[]): AsyncGenerator<AuditRow> {
  yield* rows;
}

test('each policy has its requests, its approval rate and its median time to a decision', async () => {
  const stats = await collectStats(
    rowsOf([
      asked('r1', 'finance', 0),
      row('voted', 'r1', 1),
      row('approved', 'r1', 2),
      row('rejected', 'r1', 50),
      asked('r2', 'finance', 10),
      row('approved', 'r2', 14),
      asked('r3', 'finance', 20),
      row('rejected', 'r3', 120),
      asked('r4', 'release', 30),
      row('expired', 'r4', 90),
      row('asked', 'q1', 31, '{"tool":"ask_question"}'),
      row('approved', 'unknown', 32),
    ]),
  );
  expect(stats).toEqual([
    {
      policy: 'finance',
      requests: 3,
      approved: 2,
      rejected: 1,
      expired: 0,
      approvalRate: 2 / 3,
      medianSeconds: 4,
    },
    {
      policy: 'release',
      requests: 1,
      approved: 0,
      rejected: 0,
      expired: 1,
      approvalRate: undefined,
      medianSeconds: undefined,
    },
  ]);
  expect(stats.map(homeTexts.statsLine)).toEqual([
    '3 requests, 67% approved, decided in 4 s (median)',
    '1 request, 1 expired',
  ]);
});

test('what a caller asked for counts for its policy and for the caller', async () => {
  const byCaller = (subject: string, at: number, requesters: readonly string[]) =>
    row('asked', subject, at, JSON.stringify({ policy_name: 'release', requesters }));
  const stats = await collectStats(
    rowsOf([
      byCaller('r1', 0, ['caller:pipeline', 'U-owner']),
      row('approved', 'r1', 6),
      byCaller('r2', 10, ['caller:pipeline', 'U-owner']),
      row('expired', 'r2', 20),
      byCaller('r3', 30, ['U-owner']),
      row('rejected', 'r3', 32),
    ]),
  );
  expect(stats.map((each) => `${homeTexts.statsName(each)}: ${homeTexts.statsLine(each)}`)).toEqual([
    'release: 3 requests, 50% approved, decided in 4 s (median), 1 expired',
    'caller:pipeline: 2 requests, 100% approved, decided in 6 s (median), 1 expired',
  ]);
});
