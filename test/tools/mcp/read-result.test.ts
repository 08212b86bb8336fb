import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../../src/agent/schema/compile-schema.ts';
import { CallResult, filesIn, imagesIn, readResult } from '../../../src/tools/mcp/read-result.ts';

const read = (result: unknown) => readResult(CallResult.parse(result), undefined);
const data = Buffer.alloc(12_345).toString('base64');

test.each([
  [{ type: 'text', text: 'a line' }, 'a line'],
  [{ type: 'image', mimeType: 'image/png', data }, '[image image/png, 12 kB]'],
  [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, '[audio audio/wav, 3 bytes]'],
  [{ type: 'resource_link', uri: 'demo://one', name: 'one' }, '[resource_link demo://one "one"]'],
  [
    {
      type: 'resource_link',
      uri: 'demo://two',
      name: 'two',
      title: 'Two',
      mimeType: 'text/plain',
      description: 'The second',
    },
    '[resource_link demo://two text/plain "Two" - The second]',
  ],
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

test('parts beside structured content that are no text are named', () => {
  const content = [
    { type: 'text', text: '{"found":1}' },
    { type: 'resource_link', uri: 'demo://one', name: 'one' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
  ];
  expect(read({ content, structuredContent: { found: 1 } })).toEqual({
    structuredContent: { found: 1 },
    content: '[resource_link demo://one "one"]\n[audio audio/wav, 3 bytes]',
  });
});

test('images are shown to the model, embedded ones too, and nothing else is', () => {
  const content = [
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'demo://one', mimeType: 'image/jpeg', blob: 'BBBB' } },
    { type: 'resource', resource: { uri: 'demo://two', mimeType: 'text/plain', blob: 'CCCC' } },
    { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
  ];
  expect(imagesIn(CallResult.parse({ content })).map(({ url }) => url)).toEqual([
    'data:image/png;base64,AAAA',
    'data:image/jpeg;base64,BBBB',
  ]);
});

describe('with an output schema', () => {
  const schema = { type: 'object', properties: { found: { type: 'integer' } }, required: ['found'] };
  const outputSchema = compileSchema<unknown>(schema, 'count', 'outputSchema');
  const content = [{ type: 'text', text: 'as text' }];
  const check = (result: object) => readResult(CallResult.parse({ content, ...result }), outputSchema);

  test('structured content that fits is the output', () => {
    expect(check({ structuredContent: { found: 3 } })).toEqual({ found: 3 });
  });

  test('structured content that does not fit is not passed on, and the model learns that the tool ran', () => {
    expect(check({ structuredContent: { found: 'three' } })).toBe(
      '[the tool ran, but its structured result does not fit its output schema at "found": must be integer]\nas text',
    );
  });

  test('missing structured content is said', () => {
    expect(check({})).toBe(
      '[the tool ran, but gave no structured result, which its output schema promises]\nas text',
    );
  });
});

test('images and blobs are files for people, with a name; text is none', () => {
  const content = [
    { type: 'text', text: 'here' },
    { type: 'image', mimeType: 'image/jpeg', data: 'AAAA' },
    {
      type: 'resource',
      resource: { uri: 'demo://files/report.pdf?v=1', mimeType: 'application/pdf', blob: 'BBBB' },
    },
    { type: 'resource', resource: { uri: 'demo://note', text: 'a note' } },
  ];
  expect(filesIn(CallResult.parse({ content }))).toEqual([
    { name: 'image-2.jpg', type: 'image/jpeg', data: Buffer.from('AAAA', 'base64') },
    { name: 'report.pdf', type: 'application/pdf', data: Buffer.from('BBBB', 'base64') },
  ]);
});
