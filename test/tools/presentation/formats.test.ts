import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/agent/json.ts';
import { applyFormat, formatValue, readEntry, writeEntry } from '../../../src/tools/presentation/formats.ts';
import { countFor } from '../../support/count-for.ts';

describe('a format shows a value exactly', () => {
  test.each<[string, string[], JsonValue, string]>([
    ['money', ['USD', 'cents'], 12000, '$120.00'],
    ['money', ['USD', 'cents'], -5, '-$0.05'],
    ['money', ['USD', 'cents'], 12000.5, '$120.005'],
    ['money', ['EUR', 'units'], '19.9', '€19.90'],
    ['money', ['EUR'], 10.005, '€10.005'],
    ['money', ['JPY', 'cents'], 500, '¥500'],
    ['money', ['USD', 'cents'], 9007199254740991, '$90,071,992,547,409.91'],
    ['number', [], 1234567.0000001, '1,234,567.0000001'],
    ['number', [], 1e20, '100,000,000,000,000,000,000'],
    ['percent', [], 0.125, '12.5%'],
    ['percent', ['whole'], 25, '25%'],
    ['date', [], '2026-11-15', '15 Nov 2026'],
    ['date', [], '2026-11-15T22:30:00+01:00', '15 Nov 2026, 21:30 UTC'],
    ['date', [], '2028-02-29T00:30:00+01:00', '28 Feb 2028, 23:30 UTC'],
    ['date', [], '2026-11-15T22:30:05.250Z', '15 Nov 2026, 22:30:05.250 UTC'],
    ['date', [], 1_700_000_000, '14 Nov 2023, 22:13:20 UTC'],
    ['date', ['ms'], 1_700_000_000_000, '14 Nov 2023, 22:13:20 UTC'],
    ['duration', [], 5400, '1 h 30 min'],
    ['duration', ['ms'], 90_061_001, '1 d 1 h 1 min 1 s 1 ms'],
    ['duration', ['minutes'], 0, '0 s'],
    ['bytes', [], 1536, '1.5 KB (1,536 bytes)'],
    ['bytes', [], 1, '1 byte'],
    ['list', [], ['a', 'b', 3], 'a, b and 3'],
    ['list', [], ['a, b', 'c'], '"a, b" and "c"'],
    ['code', [], 'DROP TABLE x', 'DROP TABLE x'],
    ['channel', [], 'C012ABCDEF', 'C012ABCDEF'],
  ])('%s%j of %j is %s', (name, args, value, text) => {
    expect(formatValue(value, { name, args })).toBe(text);
  });

  test.each<[string, JsonValue, string]>([
    ['money', 'a lot', 'a lot'],
    ['money', '1e400', '1e400'],
    ['number', null, 'null'],
    ['number', 1e-30, '1e-30'],
    ['date', '2026-02-30', '2026-02-30'],
    ['date', '2026-02-30T10:00:00Z', '2026-02-30T10:00:00Z'],
    ['date', '2026-04-31T23:30+01:00', '2026-04-31T23:30+01:00'],
    ['date', '2026-02-29T10:00Z', '2026-02-29T10:00Z'],
    ['date', 'tomorrow', 'tomorrow'],
    ['date', '0000-01-01', '0000-01-01'],
    ['date', -62_198_755_200, '-62198755200'],
    ['duration', -1, '-1'],
    ['bytes', 1.5, '1.5'],
    ['list', [], '[]'],
    ['list', [{ a: 1 }], '[{"a":1}]'],
    ['person', '<!channel>', '<!channel>'],
    ['code', ' x', '" x"'],
  ])('%s leaves %j as it is', (name, value, text) => {
    expect(formatValue(value, { name, args: [] })).toBe(text);
  });

  test('a text that could be overlooked is quoted', () => {
    expect(formatValue('', undefined)).toBe('""');
    expect(formatValue('A-1 ', undefined)).toBe('"A-1 "');
    expect(formatValue('A-1', undefined)).toBe('A-1');
  });
});

describe('a number is entered as it is shown', () => {
  const runs = { numRuns: countFor('ENTRY_RUNS', { quick: 500, full: 20_000 }) };
  const formats = fc.constantFrom(
    ...[
      ['money', 'USD', 'cents'],
      ['money', 'USD', 'units'],
      ['money', 'JPY', 'cents'],
      ['money', 'CHF', 'cents'],
      ['money', 'KWD', 'cents'],
      ['percent', 'share'],
      ['percent', 'whole'],
      ['date', 'seconds'],
      ['date', 'ms'],
      ['duration', 'seconds'],
      ['duration', 'ms'],
      ['duration', 'minutes'],
      ['bytes'],
    ].map(([name = '', ...args]) => ({ name, args })),
  );
  const numbers = fc.oneof(
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.maxSafeInteger(),
    fc.integer({ min: 0, max: 4_000_000_000_000 }),
    fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 1, max: 6 })).map(([int, places]) => int / 10 ** places),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
  );

  test('what is shown is read as the same number, without a rounding', () => {
    let read = 0;
    fc.assert(
      fc.property(formats, numbers, (format, value) => {
        const shown = applyFormat(value, format)?.text;
        const entry = writeEntry(value, format);
        if (entry !== undefined) {
          read += 1;
          expect(readEntry(entry, format)).toBe(value === 0 ? 0 : value);
        }
        // A whole number that a card can show is never edited as something else; a year has four digits.
        const isUsual = format.name !== 'date' || / \d{4}, /.test(shown ?? '');
        if (Number.isSafeInteger(value) && Math.abs(value) < 1e13 && isUsual)
          expect(entry === undefined).toBe(shown === undefined);
        if (shown !== undefined && entry !== undefined)
          expect(readEntry(shown, format)).toBe(value === 0 ? 0 : value);
      }),
      runs,
    );
    expect(read).toBeGreaterThan(0);
  });

  test('what people write is shown again as what they wrote, digit by digit', () => {
    const digits = fc.tuple(fc.integer({ min: 0, max: 99_999_999 }), fc.integer({ min: 0, max: 99 }));
    fc.assert(
      fc.property(digits, fc.boolean(), ([whole, cents], isNegative) => {
        const text = `${isNegative ? '-' : ''}${whole}.${String(cents).padStart(2, '0')}`;
        const value = readEntry(text, { name: 'money', args: ['USD', 'cents'] });
        expect(value).toBe(Number(text.replace('.', '')) + 0);
        expect(writeEntry(value ?? null, { name: 'money', args: ['USD', 'cents'] })).toBe(
          text.replace(/^-(0\.00)$/, '$1'),
        );
      }),
      runs,
    );
  });

  test.each([
    ['money', ['USD', 'cents'], '$1,500.5', 150_050],
    ['money', ['USD', 'cents'], 'USD 12', 1_200],
    ['money', ['EUR', 'units'], '0.1 €', 0.1],
    ['money', ['CHF', 'cents'], '-CHF 5.00', -500],
    ['money', ['USD', 'units'], '1e3', undefined],
    ['money', ['USD', 'cents'], '12,34', undefined],
    ['money', ['USD', 'cents'], '90071992547409931', undefined],
    ['percent', ['share'], '0.1', 0.001],
    ['duration', ['seconds'], '1 d 1 ms', 86_400.001],
    ['duration', ['minutes'], '30 min 1 h', undefined],
    ['duration', ['seconds'], '', undefined],
    ['bytes', [], '1.5 KB (1,536 bytes)', 1_536],
    ['bytes', [], '1.5', undefined],
    ['date', ['ms'], '1 Sept 2026, 00:00 UTC', Date.UTC(2026, 8, 1)],
    ['date', ['seconds'], '2026-02-29 10:00', undefined],
    ['date', ['seconds'], '2026-02-28 25:00', undefined],
    ['list', [], 'a', undefined],
  ] as const)('%s%j reads %j as %j', (name, args, text, value) => {
    expect(readEntry(text, { name, args })).toBe(value);
  });
});
