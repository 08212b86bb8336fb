import { describe, expect, test } from 'vitest';
import { fromLocalInput, toLocalInput } from '../../../../playground/web/src/blocks/elements/local-time.ts';
import { formatDate } from '../../../../playground/web/src/blocks/text/format-date.ts';

const AT = Date.UTC(2026, 1, 18, 14, 39, 42) / 1000;
const format = (text: string, { now = Date.UTC(2026, 5, 1), timeZone = 'UTC', at = AT } = {}) =>
  formatDate(at, text, { now, timeZone });

describe("Slack's date tokens", () => {
  test.each([
    ['{date_num}', '2026-02-18'],
    ['{date_slash}', '02/18/2026'],
    ['{date}', 'February 18th, 2026'],
    ['{date_short}', 'Feb 18, 2026'],
    ['{date_long}', 'Wednesday, February 18th, 2026'],
    ['{time}', '2:39 PM'],
    ['{time_secs}', '2:39:42 PM'],
    ['until {date_short_pretty} at {time}', 'Until Feb 18, 2026 at 2:39 PM'],
    ['{ago}', '3 months ago'],
  ])('%s is %s', (token, words) => {
    expect(format(token)).toBe(words);
  });

  test.each([
    [4 * 3_600 - 2, 'In 4 hours'],
    [86_400 - 2, 'In 1 day'],
    [12 * 3_600, 'In 12 hours'],
    [45, 'In 45 seconds'],
    [-90 * 60, '1 hour ago'],
  ])('a distance of %i seconds is %s', (seconds, words) => {
    expect(format('{ago}', { now: (AT - seconds) * 1000 })).toBe(words);
  });

  test('a pretty date near today is a word, by the clock of the reader', () => {
    const pretty = (now: number, timeZone = 'UTC') => format('{date_pretty}', { now, timeZone });
    const day = 86_400_000;
    expect([-1, 0, 1, 2].map((days) => pretty(AT * 1000 + days * day))).toEqual([
      'Tomorrow',
      'Today',
      'Yesterday',
      'February 18th, 2026',
    ]);
    expect(pretty(Date.UTC(2026, 1, 18, 23, 0), 'Asia/Tokyo')).toBe('Yesterday');
  });

  test('days have their own endings', () => {
    const days = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30];
    const words = days.map((day) => format('{date}', { at: Date.UTC(2026, 0, day) / 1000 }));
    expect(words.map((text) => text?.split(' ')[1])).toEqual(
      ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '23rd', '30th'].map(
        (day) => `${day},`,
      ),
    );
  });

  test('a token that Slack does not have, and a moment that is none, leave the fallback', () => {
    expect(format('{year_of_the_dragon}')).toBeUndefined();
    expect(format('{date}', { at: Number.NaN })).toBeUndefined();
    expect(format('{date}', { at: 1e15 })).toBeUndefined();
  });
});

describe('a date and time input', () => {
  test('gives back the moment that it was given, to the minute', () => {
    for (const seconds of [0, 1_700_000_040, 1_772_000_100]) {
      expect(fromLocalInput(toLocalInput(seconds))).toBe(seconds - (seconds % 60));
    }
  });

  test.each(['', '2026-03-01', 'T10:00', '2026-13-01T10:00'])('holds no moment in %j', (text) => {
    expect(fromLocalInput(text)).toBeUndefined();
  });

  test('is empty without a moment', () => {
    expect([undefined, Number.NaN, 1e15].map(toLocalInput)).toEqual(['', '', '']);
  });
});
