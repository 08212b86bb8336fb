import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/agent/json.ts';
import { formatValue } from '../../../src/tools/presentation/formats.ts';

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
