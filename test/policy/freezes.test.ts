import { expect, test } from 'vitest';
import { findHolding, freezeAt, freezeInWords, type PlannedFreeze } from '../../src/policy/freezes.ts';

const weekly = (from: number, to: number, timeZone = 'Europe/Berlin'): PlannedFreeze => ({
  ...{ name: 'Weekend', tools: ['*'] },
  holds: { kind: 'weekly', from: from * 60, to: to * 60, timeZone },
});
/** From Friday, 14:00, to Monday, 08:00. */
const WEEKEND = weekly(4 * 24 + 14, 8);
const OFFICE = weekly(24 + 9, 24 + 17);

test.each([
  [WEEKEND, '2026-11-20T12:59:00Z', undefined],
  [WEEKEND, '2026-11-20T13:00:00Z', '2026-11-23T07:00:00Z'],
  [WEEKEND, '2026-11-22T23:30:00Z', '2026-11-23T07:00:00Z'],
  [WEEKEND, '2026-11-23T06:59:00Z', '2026-11-23T07:00:00Z'],
  [WEEKEND, '2026-11-23T07:00:00Z', undefined],
  // The clocks go back in this night.
  [WEEKEND, '2026-10-24T12:00:00Z', '2026-10-26T07:00:00Z'],
  [OFFICE, '2026-11-17T10:00:00Z', '2026-11-17T16:00:00Z'],
  [OFFICE, '2026-11-18T10:00:00Z', undefined],
])('a freeze of each week at %#', (freeze, moment, until) => {
  const found = freezeAt([freeze], Date.parse(moment));
  expect(found?.until === undefined ? undefined : new Date(found.until).toISOString()).toBe(
    until?.replace('Z', '.000Z'),
  );
});

test('of several the one that ends last counts, and people read until when', () => {
  const dates = { kind: 'dates', from: 0, to: Date.parse('2030-01-02T08:00:00Z') } as const;
  const found = freezeAt(
    [WEEKEND, { name: 'Year end', tools: ['*'], holds: dates }],
    Date.parse('2026-11-21'),
  );
  expect(found && freezeInWords(found)).toBe('Year end, until 2030-01-02 08:00 UTC');
});

test('a freeze that a tool says holds while that is true, and while nobody can tell', async () => {
  const holds = { kind: 'while', tool: 'incidents', input: {}, when: 'output.open > 0' } as const;
  const freezes = [{ name: 'Incident', tools: ['*'], holds }];
  const heldBy = (output: () => Promise<object>) =>
    findHolding(freezes, 0, async () => JSON.parse(JSON.stringify(await output())));
  expect(await heldBy(async () => ({ open: 0 }))).toBeUndefined();
  expect(await heldBy(async () => ({ open: 2 }))).toEqual({ name: 'Incident' });
  expect(await heldBy(async () => ({ closed: 2 }))).toEqual({ name: 'Incident' });
  expect(await heldBy(() => Promise.reject(new Error('away')))).toEqual({ name: 'Incident' });
});
