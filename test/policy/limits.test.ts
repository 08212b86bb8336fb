import { expect, test } from 'vitest';
import { type Limit, limitInWords, usesOf } from '../../src/policy/limits.ts';
import { startOfPeriod } from '../../src/policy/time.ts';

const LIMIT: Limit = {
  ...{
    name: 'refunds',
    match: 'refund_*',
    per: 'requester',
    sum: 'input.amount',
    max: 100,
    policy: undefined,
  },
  windowMs: 86_400_000,
};
const CALL = {
  ...{ tool: 'refund_order', input: { amount: 7 }, channel: 'C1' },
  ...{ requesters: ['U1'], contextAuthors: [], now: new Date('2026-11-16T23:30:00Z') },
};

test.each([
  ['day', 'UTC', '2026-11-16T23:30:00Z', '2026-11-16'],
  ['day', 'Europe/Berlin', '2026-11-16T23:30:00Z', '2026-11-17'],
  ['day', 'America/New_York', '2026-11-17T04:30:00Z', '2026-11-16'],
  ['week', 'Europe/Berlin', '2026-11-15T22:59:59Z', '2026-11-09'],
  ['week', 'Europe/Berlin', '2026-11-15T23:00:00Z', '2026-11-16'],
  ['week', 'UTC', '2027-01-01T12:00:00Z', '2026-12-28'],
  ['month', 'Europe/Berlin', '2026-10-31T22:59:59Z', '2026-10-01'],
  ['month', 'Europe/Berlin', '2026-10-31T23:00:00Z', '2026-11-01'],
] as const)('a %s in %s at %s begins on %s', (unit, timeZone, moment, start) => {
  expect(startOfPeriod({ unit, timeZone }, new Date(moment))).toBe(start);
});

test('each period has a counter of its own, which ends with the person, so that erasing finds it', () => {
  const calendar = { unit: 'day', timeZone: 'Europe/Berlin' } as const;
  const [use] = usesOf([{ ...LIMIT, calendar }], CALL);
  expect(use).toMatchObject({ key: 'refunds@2026-11-17|requester|U1', amount: 7 });
  expect(usesOf([LIMIT], CALL)).toMatchObject([{ key: 'refunds|requester|U1' }]);
  expect(limitInWords({ ...LIMIT, calendar })).toBe(
    'It would exceed the limit of 100 in a day (Europe/Berlin) per person',
  );
});

test('a condition leaves calls out, and one that cannot be evaluated counts them', () => {
  const only = (when: string) => [{ ...LIMIT, when }];
  expect(usesOf(only('!approved'), CALL)).toHaveLength(1);
  expect(usesOf(only('!approved'), { ...CALL, approved: true })).toEqual([]);
  expect(usesOf(only('input.amount > 7'), CALL)).toEqual([]);
  expect(usesOf(only('input.total > 7'), CALL)).toHaveLength(1);
});
