import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMessage } from '../../src/agent/is-message.ts';
import { Message, readMessages } from '../../src/agent/messages.ts';

const fixture: unknown[] = JSON.parse(
  readFileSync(new URL('./fixtures/messages.v1.json', import.meta.url), 'utf8'),
);
const plain = fixture.filter((message) => !JSON.stringify(message).includes('"nested"'));

/** Every place in a value, as the keys that lead to it. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, entry]) => placesIn(entry, [...path, key]))];
}

/** A copy in which one place holds something else, or nothing. */
function changedAt(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return other;
  const entry = changedAt(Reflect.get(value, key), rest, other);
  if (Array.isArray(value)) return value.map((old: unknown, index) => (String(index) === key ? entry : old));
  return { ...value, [key]: entry };
}

test('every form of a message but the rare ones is known at a look', () => {
  expect(plain.length).toBeGreaterThan(3);
  for (const message of plain) expect(isMessage(message), JSON.stringify(message)).toBe(true);
});

test('whatever passes at a look passes the schema as well, unchanged', () => {
  const broken = fc.constantFrom(...fixture).chain((message) =>
    fc
      .tuple(
        fc.constantFrom(...placesIn(message)),
        fc.oneof(
          fc.constantFrom(undefined, null, '', 0, -1, 1.5, [], {}, { text: 1 }, 'ok', { v: 1 }),
          fc.jsonValue(),
        ),
        fc.option(fc.string(), { nil: undefined }),
      )
      .map(([place, other, extra]) => {
        const changed = changedAt(message, place, other);
        const isExtended = extra !== undefined && typeof changed === 'object' && changed !== null;
        return JSON.parse(JSON.stringify(isExtended ? { ...changed, [extra]: other } : changed) ?? 'null');
      }),
  );
  fc.assert(
    fc.property(broken, (value) => {
      if (isMessage(value)) expect(Message.parse(value)).toEqual(value);
    }),
    { numRuns: 3000 },
  );
});

test('a list that holds one broken message names the place of it', () => {
  const texts = plain.map((message) => JSON.stringify(message));
  expect(readMessages(texts)).toEqual(plain);
  expect(() => readMessages([...texts, '{"v":1}'])).toThrow(expect.objectContaining({ index: texts.length }));
  expect(() => readMessages([...texts, 'not json'])).toThrow(SyntaxError);
});

test('two halves of a message make no message', () => {
  const [whole = ''] = plain.map((message) => JSON.stringify(message));
  const cut = whole.indexOf(',');
  expect(() => readMessages([whole.slice(0, cut), whole.slice(cut + 1)])).toThrow(SyntaxError);
});
