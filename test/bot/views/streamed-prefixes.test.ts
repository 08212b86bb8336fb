import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitizableLength, sanitizeMarkdown } from '../../../src/bot/views/sanitize-markdown.ts';
import { countFor } from '../../support/count-for.ts';

const EVIL = '[docs](https://evil.example/x)';

/** Texts that a flush at an unlucky place could break. */
const ATTACKS = [
  `Use \`npm run build\`, then \`${EVIL}\`.`,
  `Use \`npm run build\` or \`${EVIL} b\` now.`,
  `A \`\`a \` b\`\` and \`c d\` ${EVIL} \`e f\``,
  `A \`a\`\` ${EVIL} \` b\`\` c`,
  `12. \`\`\`js\n    ${EVIL}\n    \`\`\`\nAfter ${EVIL}`,
  `1) ~~~\n${EVIL}\n~~~\n`,
  `> - \`\`\`\n> ${EVIL}\n> \`\`\`\n${EVIL}`,
  `> \`\`\`\n> code\n${EVIL} \`x y\`\n`,
  `\`\`\`js\r\n${EVIL}\r\n\`\`\`\r\n${EVIL} \`a b\`\r\n`,
  `~~~ a|b\r\n${EVIL}\r\n~~~\r\nx`,
  `a [x|y](https://evil.example)\n-|-\nb`,
  `a \`x|${EVIL}\`\n-|-\n\`b|c\`\n\n\`d|e\` f`,
  `head\n---\n\`x|${EVIL}\`\n`,
  `a\\\` b \`c d\` \\\\\` ${EVIL} \``,
  'a \\\\`\r`` b \\\\`c` d',
  `a ] (https://evil.example) b](https://evil.example) c]: d`,
  `![${EVIL}](https://evil.example "t") \`a b\``,
  `[a\n](https://evil.example) \`b c\`\n]\n(https://evil.example)`,
  `\`\n${EVIL}\n\` \`\`\n${EVIL} \`\``,
  `a \`b\rc d\` \`e\r\n${EVIL} \``,
  `<@U0ALICE002> &lt; \`<@U0ALICE002> x\` <!here>`,
  `a | \\\u2028 \`b c\` |\n|-|-|\n| \\\u2028 \`d | e\``,
  `\`a \u200b b\` \u202e ☀\uFE0F 👩\u200D💻 \`c d\` e\u0301\u0301\u0301\u0301\u0301\u0301\u0301 f`,
  `- \n  \`\`\`\n  ${EVIL}\n  \`\`\`\n- \`x y\``,
  `\`\`\`\`\n\`\`\`\n${EVIL}\n\`\`\`\`\n\`\`\`x\`y z\` ${EVIL}\n`,
];

/** The places at which a piece of a text starts something, ends it or leaves it open. */
const token = fc.constantFrom(
  ...['`', '``', '```', '````', '~~~', '\\', '\\`', '|', '[', ']', '](', ')', '!', '(', ':', '<', '&', '\r'],
  ...[
    '\n',
    '\n',
    '\n',
    '\n\n',
    ' ',
    ' ',
    ' ',
    '  ',
    '    ',
    '\t',
    '> ',
    '- ',
    '1. ',
    '12) ',
    '---',
    '-|-',
    '# ',
  ],
  ...['a', 'npm run', 'build,', '1', EVIL, 'https://evil.example', '\u2028', '\uFE0F', '\u200D', '👩', '**'],
  ...['**', '重要', '：', '（', '。', '請', '&lt;', '&'],
);
const text = fc.array(token, { minLength: 1, maxLength: 40 }).map((tokens) => tokens.join(''));

/** Flushes a text at each of its prefixes: whatever was sent has to be the beginning of the whole. */
function expectTrue(whole: string): void {
  const shown = sanitizeMarkdown(whole);
  let last = 0;
  for (let length = 0; length <= whole.length; length += 1) {
    const prefix = whole.slice(0, length);
    const until = sanitizableLength(prefix);
    expect(until).toBeLessThanOrEqual(length);
    const sent = sanitizeMarkdown(prefix, until);
    const at = JSON.stringify({ prefix, until });
    expect([at, shown.slice(0, sent.length)]).toEqual([at, sent]);
    expect([at, sanitizeMarkdown(whole, until)]).toEqual([at, sent]);
    last = Math.max(last, until);
  }
  // Complete lines of a text that has none of this in it do not wait.
  if (!/[`~|[\]]/.test(whole)) expect(last).toBeGreaterThanOrEqual(whole.lastIndexOf('\n') + 1);
}

describe('what was sent of a growing answer is the beginning of the whole answer, wherever it was flushed', () => {
  test.each(ATTACKS)('%j', (attack) => {
    expectTrue(attack);
    expectTrue(`${attack}\n${attack}`);
  });

  test('random Markdown', () => {
    fc.assert(fc.property(text, expectTrue), {
      numRuns: countFor('PREFIXES', { quick: 400, full: 2_000 }),
    });
  });
});
