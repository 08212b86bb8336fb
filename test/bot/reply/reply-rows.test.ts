import { describe, expect, test } from 'vitest';
import { replyRows } from '../../../src/bot/reply/reply-rows.ts';
import { sanitizeMarkdown } from '../../../src/bot/reply/sanitize-markdown.ts';

const turn = { threadId: 'C0GENERAL:1.1', token: '1', messages: [], inbox: [], settled: [] };
const textsOf = (text: string, standing?: { readonly ts: string; readonly sent: number }) =>
  replyRows(turn, text, standing, { session: 'active', requester: 'U1' }).map(({ body }) =>
    String(body.text),
  );

describe('a reply that is too long for one message', () => {
  test('is never cut through an emoji, also where it has no space', () => {
    const family = '👨‍👩‍👧‍👦';
    for (const before of ['', 'a', 'ab', 'abc']) {
      const parts = textsOf(`${before}${family.repeat(1_500)}`);
      expect(parts.length).toBeGreaterThan(1);
      for (const part of parts) expect(part.replaceAll(family, '')).toMatch(/^[abc]*$/);
    }
  });

  test('fits also when every character of it has to be shown as a code', () => {
    const hidden = '\u202E'.repeat(4_000);
    const parts = textsOf(hidden);
    expect(parts.join('')).toBe(hidden);
    for (const part of parts) expect(sanitizeMarkdown(part).length).toBeLessThanOrEqual(12_000);
  });

  test('keeps what stands already in the first message, and says it once', () => {
    const text = `${'many words '.repeat(500)}${'\u202E'.repeat(4_000)}`;
    const parts = textsOf(text, { ts: '1.2', sent: 5_500 });
    expect(parts[0]?.length).toBeGreaterThanOrEqual(5_500);
    expect(parts.join('')).toBe(text);
  });

  test('is cut somewhere even if it is one letter under thousands of marks', () => {
    const text = `a${'\u0301'.repeat(20_000)}`;
    expect(textsOf(text).join('')).toContain(text.slice(0, 1_000));
  });
});
