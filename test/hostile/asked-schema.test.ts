import { describe, expect, test } from 'vitest';
import { requestForm, waitForCallback } from '../../src/tools/built-ins.ts';

const form = (fields: object) => requestForm.inputSchema.parse({ title: 'A form', fields });
const wait = (result: object) => waitForCallback.inputSchema.parse({ awaited: 'a build', result });

describe('a schema that a model makes up', () => {
  test.each([
    ['a pattern', { properties: { a: { type: 'string', pattern: '(a+)+$' } } }],
    ['a pattern deep inside', { anyOf: [{ items: { not: { pattern: '(a|a)*b' } } }] }],
    ['patterns of names', { patternProperties: { '(a+)+$': {} } }],
    ['no end', { enum: ['x'.repeat(20_001)] }],
    ['depth', Array.from({ length: 30 }).reduce<object>((inner) => ({ items: inner }), {})],
  ])('is refused when it has %s', (_what, schema) => {
    expect([form(schema).ok, wait(schema).ok]).toEqual([false, false]);
  });

  test('may have a field that is called pattern', () => {
    expect(form({ type: 'object', properties: { pattern: { type: 'string' } } }).ok).toBe(true);
  });
});
