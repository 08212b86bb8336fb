import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/agent/json.ts';
import { Message, userMessage } from '../../src/agent/messages.ts';
import { readPlainMessage } from '../../src/agent/read-plain-message.ts';

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', '\\', '\\"', 'two\nlines', '\u0000', '\ud800', 'Grüße', '"}]}', '\u2028'),
);
const anyRef = anyText.filter((ref) => ref !== '');
const count = fc.nat();
const plain = fc.oneof(
  fc
    .tuple(anyText, fc.option(anyText, { nil: undefined }))
    .map(([text, user]): Message => userMessage(text, user === undefined ? undefined : { user })),
  fc.tuple(anyText, fc.option(fc.tuple(count, count, count), { nil: undefined })).map(
    ([text, usage]): Message => ({
      v: 1,
      role: 'model',
      content: [{ text }],
      ...(usage && {
        usage: { inputTokens: usage[0], outputTokens: usage[1], totalTokens: usage[2] },
      }),
    }),
  ),
  fc.tuple(anyText, anyRef, fc.jsonValue(), anyRef).map(
    ([name, ref, input, idempotencyKey]): Message => ({
      v: 1,
      role: 'model',
      content: [{ toolRequest: { name, ref, input: input as JsonValue }, idempotencyKey }],
    }),
  ),
  fc
    .tuple(
      anyText,
      anyRef,
      fc.oneof(anyText, fc.jsonValue()),
      fc.constantFrom('ok' as const, 'error' as const, 'denied' as const, 'closed' as const),
    )
    .map(
      ([name, ref, output, status]): Message => ({
        v: 1,
        role: 'tool',
        content: [{ toolResponse: { name, ref, output: output as JsonValue }, status }],
      }),
    ),
  fc.tuple(anyRef, anyText, anyRef, fc.jsonValue(), fc.dictionary(anyText, fc.jsonValue())).map(
    ([id, name, ref, input, metadata]): Message => ({
      v: 1,
      role: 'tool',
      content: [
        {
          interrupt: {
            id,
            toolRequest: { name, ref, input: input as JsonValue },
            metadata: metadata as JsonObject,
          },
        },
      ],
    }),
  ),
);

function wordsIn({ content: [part] }: Message): unknown {
  if (part === undefined) return undefined;
  if ('text' in part) return part.text;
  if ('toolRequest' in part) return part.toolRequest.input;
  return 'toolResponse' in part ? part.toolResponse.output : undefined;
}

/** What the slow way makes of a text: a message, or nothing. */
function readSlowly(row: string): unknown {
  try {
    const value: unknown = JSON.parse(row);
    return Message.safeParse(value).success ? value : undefined;
  } catch {
    return undefined;
  }
}

test('words, as we write them, are read at a look and say the same', () => {
  fc.assert(
    fc.property(plain, (message) => {
      const row = JSON.stringify(message);
      const read = readPlainMessage(row);
      // Words that look like the frame around them are for the slow way.
      if (read === undefined)
        expect(row).toMatch(/idempotencyKey.*idempotencyKey|toolResponse.*toolResponse|interrupt/s);
      else expect(read.message).toEqual(JSON.parse(JSON.stringify(message)));
      if (read?.words !== undefined) expect(JSON.parse(read.words)).toEqual(wordsIn(read.message));
    }),
    { numRuns: 2000 },
  );
});

test('a text that was tampered with is read as the slow way reads it, or not at all', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom('"', '\\', '{', '}', ',', '\n', '\\u00', '\\x', '0', '"text":"', ',"usage":{', ' '),
  );
  const tampered = fc
    .tuple(plain, fc.nat(), fc.nat({ max: 4 }), piece)
    .map(([message, place, removed, added]) => {
      const row = JSON.stringify(message);
      const at = place % row.length;
      return row.slice(0, at) + added + row.slice(at + removed);
    });
  fc.assert(
    fc.property(tampered, (row) => {
      const read = readPlainMessage(row);
      if (read !== undefined) expect(read.message).toEqual(readSlowly(row));
    }),
    { numRuns: 5000 },
  );
});

test.each([
  [
    'a result without a ref',
    '{"v":1,"role":"tool","content":[{"toolResponse":{"name":"a","ref":"","output":""},"status":"ok"}]}',
  ],
  [
    'a call without a ref',
    '{"v":1,"role":"model","content":[{"toolRequest":{"name":"a","ref":"","input":1},"idempotencyKey":"k"}]}',
  ],
  [
    'two calls',
    '{"v":1,"role":"model","content":[{"toolRequest":{"name":"a","ref":"r","input":1},"idempotencyKey":"k"},{"toolRequest":{"name":"a","ref":"s","input":1},"idempotencyKey":"l"}]}',
  ],
  [
    'a call with a broken input',
    '{"v":1,"role":"model","content":[{"toolRequest":{"name":"a","ref":"r","input":{},"x":1},"idempotencyKey":"k"}]}',
  ],
  ['a later version', '{"v":2,"role":"user","content":[{"text":"Hi"}]}'],
  [
    'a count with a zero before it',
    '{"v":1,"role":"model","content":[{"text":"Hi"}],"usage":{"inputTokens":01,"outputTokens":1,"totalTokens":1}}',
  ],
  ['what follows the end', '{"v":1,"role":"user","content":[{"text":"Hi"}]} '],
  ['nothing', ''],
])('%s is left to the slow way', (_, row) => {
  expect(readPlainMessage(row)).toBeUndefined();
});

test('arguments that look like the frame of a message a thousand times over do not hold the reading up', () => {
  const input = Array.from({ length: 20_000 }, () => ({
    a: {},
    metadata: {},
    idempotencyKey: '',
    status: 'ok',
  }));
  const toolRequest = { name: 'a', ref: 'r', input };
  const results = [{ toolResponse: { name: 'b', ref: 's', output: input }, status: 'ok' }];
  const rows = [
    { v: 1, role: 'model', content: [{ toolRequest, idempotencyKey: 'k' }, { text: '' }] },
    { v: 1, role: 'tool', content: [{ interrupt: { id: 'i', toolRequest, metadata: {} } }, ...results] },
    { v: 1, role: 'tool', content: [...results, ...results] },
  ].map((message) => JSON.stringify(message));
  for (const row of rows) expect(readPlainMessage(row)).toBeUndefined();
});

test('a very long text with many marks in it is read as well', () => {
  const message = userMessage('"\n'.repeat(200_000));
  expect(readPlainMessage(JSON.stringify(message))?.message).toEqual(message);
});
