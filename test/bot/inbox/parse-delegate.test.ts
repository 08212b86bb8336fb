import { describe, expect, test } from 'vitest';
import { parseDelegate } from '../../../src/bot/inbox/delegate.ts';

/** A Monday. */
const NOW = new Date('2026-11-16T09:30:00Z');
const BOB = 'U0BRUNO003';

function read(text: string, timeZone = 'UTC') {
  const parsed = parseDelegate(text, NOW, timeZone);
  if (!parsed.ok) return parsed.problem;
  const { to, until, reason } = parsed;
  return [to, new Date(until).toISOString().slice(0, 16), reason];
}

describe('a delegation as people write it', () => {
  test.each([
    ['until Friday', '2026-11-21T00:00'],
    ['until fri', '2026-11-21T00:00'],
    ['until monday', '2026-11-17T00:00'],
    ['until Sunday', '2026-11-23T00:00'],
    ['until today', '2026-11-17T00:00'],
    ['until tomorrow 12:00', '2026-11-17T12:00'],
    ['until 18:00', '2026-11-16T18:00'],
    ['until 9:30', '2026-11-17T09:30'],
    ['until 2026-12-01', '2026-12-02T00:00'],
    ['until 2026-12-01 08:15', '2026-12-01T08:15'],
    ['for 3 days', '2026-11-19T09:30'],
    ['for 1 hour', '2026-11-16T10:30'],
    ['for a week', '2026-11-23T09:30'],
    ['For 45 Minutes', '2026-11-16T10:15'],
  ])('%s', (time, until) => {
    expect(read(`<@${BOB}|bruno> ${time}`)).toEqual([BOB, until, '']);
    expect(read(`${BOB} ${time}  on *holiday* until then`)).toEqual([BOB, until, 'on *holiday* until then']);
  });

  test('a day and a time are those of the person who writes', () => {
    expect(read(`<@${BOB}> until Friday`, 'Europe/Berlin')).toEqual([BOB, '2026-11-20T23:00', '']);
    expect(read(`<@${BOB}> until 18:00`, 'America/New_York')).toEqual([BOB, '2026-11-16T23:00', '']);
    // The clocks change between the two.
    expect(read(`<@${BOB}> until 2027-03-28`, 'Europe/Berlin')).toEqual([BOB, '2027-03-28T22:00', '']);
  });

  test.each([
    ['', 'person'],
    ['@bruno until Friday', 'person'],
    ['until Friday', 'person'],
    [`<@${BOB}>`, 'time'],
    [`<@${BOB}> Friday`, 'time'],
    [`<@${BOB}> until whenever`, 'time'],
    [`<@${BOB}> until 25:00`, 'time'],
    [`<@${BOB}> until 2026-02-30`, 'time'],
    [`<@${BOB}> until fr`, 'time'],
    [`<@${BOB}> for 0 days`, 'time'],
    [`<@${BOB}> for three days`, 'time'],
    [`<@${BOB}> for 3 years`, 'time'],
  ])('"%s" cannot be read', (text, problem) => {
    expect(read(text)).toBe(problem);
  });
});
