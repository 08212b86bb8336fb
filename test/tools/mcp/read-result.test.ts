import { expect, test } from 'vitest';
import { CallResult, readResult } from '../../../src/tools/mcp/read-result.ts';

const read = (result: unknown) => readResult(CallResult.parse(result));
const data = Buffer.alloc(12_345).toString('base64');

test.each([
  [{ type: 'text', text: 'a line' }, 'a line'],
  [{ type: 'image', mimeType: 'image/png', data }, '[image image/png, 12 kB]'],
  [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, '[audio audio/wav, 3 bytes]'],
  [{ type: 'resource_link', uri: 'demo://one', name: 'one' }, '[resource_link demo://one]'],
  [
    { type: 'resource', resource: { uri: 'demo://one', mimeType: 'text/plain', text: 'inside' } },
    '[resource demo://one text/plain]\ninside',
  ],
  [{ type: 'resource', resource: { uri: 'demo://two', blob: data } }, '[resource demo://two, 12 kB]'],
  [{ type: 'hologram', depth: 3 }, '[hologram]'],
])('content %j', (block, text) => {
  expect(read({ content: [block] })).toBe(text);
});

test('parts follow each other on lines of their own', () => {
  const content = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ];
  expect(read({ content })).toBe('one\ntwo');
});

test.each([[{ found: 0 }], [[]], [null], [0]])(
  'structured content %j comes before text',
  (structuredContent) => {
    expect(read({ content: [{ type: 'text', text: 'as text' }], structuredContent })).toEqual(
      structuredContent,
    );
  },
);
