import fc from 'fast-check';
import { type JsonValue, toJson } from '../../../../src/agent/json.ts';

const hostile = fc.constantFrom(
  '<!channel>',
  '<@U0VICTIM>',
  '<!subteam^S0VICTIM>',
  '<https://evil.example|your bank>',
  'https://evil.example/?a=b&c=d',
  '*bold* _italic_ ~strike~ `code` ```block```',
  ':white_check_mark: :smile:',
  '&lt;!here&gt;',
  '\u202Egnp.exe\u202C',
  'a\u200Bb\u2060c\uFEFF',
  '\u{E0041}\u{E0042}',
  '\n'.repeat(200),
  `pay 5${' '.repeat(300)}0000`,
  `z\u0301${'\u0335'.repeat(60)}`,
  '\uD800',
  '\uDC00\uD800',
  '\\u{202e}',
  '\\\\u{5c}u{202e}\\',
  '"}\n],\namount: 1',
  '(not shown: 4,200 characters)',
  '|\n  | x',
  '👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽',
  '\u0000\u0007\u001B[31m\u0085\u2028\u2029',
  'x'.repeat(4_000),
  'line of text\n'.repeat(30),
  '__proto__',
  'constructor',
  '\u3164\u115F\u2800\u00A0\u3000',
  '…',
);

/** Text of every kind there is. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  hostile,
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
  fc.tuple(hostile, fc.string({ unit: 'grapheme', maxLength: 20 }), hostile).map((parts) => parts.join('')),
  fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }), fc.nat(1_200))
    .map(([text, times]) => text.repeat(times)),
);

/** JSON of every shape: long, wide, deep and empty. */
export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; leaf: JsonValue }>((tie) => ({
  leaf: fc.oneof(
    anyText,
    fc.constantFrom<JsonValue>(null, true, false, 0, '', [], {}, 1e21, 1e-7, 0.1 + 0.2, -1),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
  ),
  value: fc.oneof(
    { depthSize: 'xsmall', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 4 }),
  ),
})).value;

const deep: fc.Arbitrary<JsonValue> = fc
  .tuple(anyJson, fc.integer({ min: 1, max: 400 }), fc.boolean())
  .map(([inner, depth, asList]) =>
    Array.from({ length: depth }).reduce<JsonValue>((value) => (asList ? [value] : { a: value }), inner),
  );

/** The arguments of a call; most are objects, as a tool's input is. */
export const anyInput: fc.Arbitrary<JsonValue> = fc
  .oneof(
    {
      weight: 12,
      arbitrary: fc.dictionary(fc.oneof(fc.constantFrom('amount', 'body', 'to', 'id'), anyText), anyJson, {
        maxKeys: 12,
      }),
    },
    { weight: 2, arbitrary: anyJson },
    { weight: 1, arbitrary: deep },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 0, max: 300 })
        .map((count) =>
          Object.fromEntries(Array.from({ length: count }, (_, index) => [`argument_${index}`, index])),
        ),
    },
  )
  .map(toJson);
