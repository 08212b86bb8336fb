import { expect, test } from 'vitest';
import { readableLine } from '../src/terminal-log.ts';

const line = (row: object) => `${JSON.stringify({ time: Date.now(), pid: 1, hostname: 'h', ...row })}\n`;

test('at a terminal a line of the log is a sentence with its fields', () => {
  const shown = readableLine(
    line({ level: 40, msg: 'turn failed', threadId: 'C1:1.2', reason: 'a b', tries: 2 }),
  );
  expect(shown).toMatch(
    /^\d\d:\d\d:\d\d {2}WARNING {2}turn failed {2}threadId=C1:1\.2 {2}reason="a b" {2}tries=2\n$/,
  );
});

test('of an error its words are shown, and nothing moves the cursor of the terminal', () => {
  const shown = readableLine(
    line({ level: 50, msg: 'failed \u001b[2J', err: { message: 'no\nway', stack: 'at x' } }),
  );
  expect(shown).toMatch(/ERROR {4}failed \\u\{1b\}\[2J {2}err="no\\nway"\n$/);
});

test('what is no JSON stays as it is', () => {
  expect(readableLine('words\n')).toBe('words\n');
});
