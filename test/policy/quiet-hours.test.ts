import { expect, test } from 'vitest';
import { quietUntil } from '../../src/policy/time.ts';

const night = { from: 20 * 60, to: 7 * 60, timeZone: 'Europe/Berlin' };
const noon = { from: 12 * 60, to: 13 * 60 + 30, timeZone: 'UTC' };

test.each([
  // In Berlin it is one hour later in winter and two in summer.
  [night, '2026-11-16T18:59:00Z', undefined],
  [night, '2026-11-16T19:00:00Z', '2026-11-17T06:00:00.000Z'],
  [night, '2026-11-17T05:59:59Z', '2026-11-17T06:00:00.000Z'],
  [night, '2026-11-17T06:00:00Z', undefined],
  [night, '2026-07-01T18:30:00Z', '2026-07-02T05:00:00.000Z'],
  // The clocks change in this night.
  [night, '2026-10-24T20:00:00Z', '2026-10-25T06:00:00.000Z'],
  [noon, '2026-11-16T11:59:00Z', undefined],
  [noon, '2026-11-16T12:00:00Z', '2026-11-16T13:30:00.000Z'],
  [noon, '2026-11-16T13:30:00Z', undefined],
])('the quiet hours %j end for %s at %s', (hours, moment, end) => {
  const until = quietUntil(hours, new Date(moment));
  expect(until === undefined ? undefined : new Date(until).toISOString()).toBe(end);
});
