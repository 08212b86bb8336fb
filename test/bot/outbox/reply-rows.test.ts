import { describe, expect, test } from 'vitest';
import { replyRows } from '../../../src/bot/outbox/reply-rows.ts';
import { sanitizeMarkdown } from '../../../src/bot/views/sanitize-markdown.ts';
import { nonEmpty } from '../../support/non-empty.ts';

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
      for (const part of nonEmpty(parts)) expect(part.replaceAll(family, '')).toMatch(/^[abc]*$/);
    }
  });

  test('fits also when every character of it has to be shown as a code', () => {
    const hidden = '\u202E'.repeat(4_000);
    const parts = textsOf(hidden);
    expect(parts.join('')).toBe(hidden);
    for (const part of nonEmpty(parts)) expect(sanitizeMarkdown(part).length).toBeLessThanOrEqual(12_000);
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

  test('keeps a code span whole that begins where the streamed part ends', () => {
    const streamed = 'word '.repeat(1_798);
    const parts = textsOf(`${streamed}\`a span of code\` follows`, { ts: '1.2', sent: streamed.length });
    expect(parts).toEqual([streamed, '`a span of code` follows']);
  });

  test('keeps a code span whole that has no space before it', () => {
    const parts = textsOf(`${'x'.repeat(8_990)}\`a span of code\` follows`);
    expect(parts).toEqual(['x'.repeat(8_990), '`a span of code` follows']);
  });

  test('has no empty message before a code span that is longer than a message', () => {
    const text = ` \`${'a '.repeat(6_000)}\``;
    const parts = textsOf(text);
    expect(parts.join('')).toBe(text);
    for (const part of nonEmpty(parts)) expect(part.trim()).not.toBe('');
  });

  test.each(['~~~', '```', '- 1', '> 1', '# 1', '1. a'])(
    'is not cut before words that would begin a block: %s',
    (words) => {
      const text = `${'word '.repeat(1_799)}${words} ${'word '.repeat(100)}`;
      expect(textsOf(text)[1]).toMatch(/^ word /);
      // All of a message is streamed, and the next word would begin a block.
      const streamed = `${'<'.repeat(2_800)} `;
      const parts = textsOf(`${streamed}${words} ${'<'.repeat(2_800)}`, { ts: '1.2', sent: streamed.length });
      expect(parts[0]).toBe(`${streamed}${words.split(' ')[0]}`);
    },
  );

  test.each([
    ['is in the way of the cut', '```typescript'],
    ['fits, without a line of code', '```'],
  ])('moves a code block to the next message if its first line %s', (_how, first) => {
    const streamed = `${'word '.repeat(1_799)}\n`;
    const block = `${first}\n${'code\n'.repeat(10)}\`\`\``;
    expect(textsOf(`${streamed}${block}`, { ts: '1.2', sent: streamed.length })).toEqual([streamed, block]);
  });

  test('ends a streamed code block with its own last line', () => {
    const streamed = `   \`\`\`\n${'   code\n'.repeat(1_124)}`;
    const text = `${streamed}   \`\`\``;
    expect(text.length).toBeGreaterThan(9_000);
    expect(textsOf(text, { ts: '1.2', sent: streamed.length })).toEqual([text]);
  });

  test('fits also when the line of code after the streamed part has to be escaped', () => {
    const streamed = `\`\`\`\n${`${'<'.repeat(99)}\n`.repeat(28)}`;
    const text = `${streamed}${'<'.repeat(390)}\n${'code\n'.repeat(2_000)}\`\`\``;
    const parts = textsOf(text, { ts: '1.2', sent: streamed.length }).map((part) => sanitizeMarkdown(part));
    for (const part of nonEmpty(parts)) expect(part.length).toBeLessThanOrEqual(12_000);
    expect(parts[0]).toBe(`${sanitizeMarkdown(streamed, streamed.length)}\`\`\``);
  });
});
