import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secrets } from '../../src/tools/secrets.ts';

const SECRET = 'xoxb-17+é/secret?value';

function redactedBy(secret: string, text: string): string {
  const secrets = new Secrets();
  secrets.add(secret);
  return secrets.redact(text);
}

test.each([
  ['as it is', SECRET],
  ['in JSON', JSON.stringify({ token: SECRET })],
  ['in a URL', `https://example.com/?t=${encodeURIComponent(SECRET)}`],
  ['in a form', new URLSearchParams({ t: SECRET }).toString()],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ['in upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['in base64', Buffer.from(SECRET).toString('base64')],
  ['in base64url', Buffer.from(SECRET).toString('base64url')],
])('a secret %s is redacted', (_, text) => {
  expect(redactedBy(SECRET, text)).toContain('[redacted]');
});

test('a secret is redacted wherever it begins in a longer text that is base64', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
      fc.string({ maxLength: 20 }),
      fc.string({ maxLength: 20 }),
      (secret, before, after) => {
        const encoded = Buffer.from(`${before}${secret}${after}`).toString('base64');
        expect(redactedBy(secret, encoded)).toContain('[redacted]');
      },
    ),
  );
});

test('other text stays as it is', () => {
  expect(redactedBy(SECRET, 'a sentence without any secret value')).toBe(
    'a sentence without any secret value',
  );
});
