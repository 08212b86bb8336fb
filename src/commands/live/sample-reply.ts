import { blocksOf, chunksOf } from '../../bot/outbox/reply-content.ts';
import { replyParts } from '../../bot/views/reply-parts.ts';
import { sanitizeMarkdown } from '../../bot/views/sanitize-markdown.ts';

/** The address that must lead where it says. */
export const ADDRESS = 'https://example.com/?a=1&b=2';
export const CODE = 'if (a < b && c) return;';
export const CELL = 'A-1001';
export const END = 'The end of the long text.';
/** The text of an updated message. */
export const UPDATED = 'The card is settled.';
/** A sentence that is sent in two pieces of a stream. */
export const SENTENCE = ['This sentence comes in ', 'two pieces and stays one.\n\n'] as const;
/** The fewest characters that are left of the whole. */
export const LONG = 8_000;

const WORDS = 'These words make the text as long as a long answer is. ';

const MARKDOWN = sanitizeMarkdown(
  `Salt & pepper, see [the order](${ADDRESS}).

**重要：**请看

\`\`\`ts
${CODE}
\`\`\`

| Order | Amount |
| --- | ---: |
| ${CELL} | **12.50** |

${WORDS.repeat(Math.ceil(LONG / WORDS.length))}${END}`,
);
const PARTS = replyParts(MARKDOWN);

const WITHOUT_TABLES = PARTS.flatMap(({ text, table }) => (table === undefined ? [text] : [])).join('');

/** A reply with all that answers have, in the forms in which the bot sends it. A text without tables is no blocks. */
export const REPLY = { markdown: WITHOUT_TABLES, chunks: chunksOf(PARTS), blocks: blocksOf(PARTS) };
