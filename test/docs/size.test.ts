import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { docPages, ROOT } from './doc-pages.ts';

/** Pages that a command writes: they grow with the source, and nobody reads them from top to bottom. */
const GENERATED = [
  ...['docs/alerts.md', 'docs/commands.md', 'docs/manifest-fields.md', 'docs/metrics.md', 'docs/settings.md'],
  ...['docs/evidence/conformance.md', 'docs/evidence/proof.md'],
];
/** Pages about the source may use the words of the design. */
const INTERNALS = [
  ...['CONTRIBUTING.md', 'docs/evidence/faults.md', 'docs/how-it-works.md', 'docs/loop.md'],
  ...['docs/evidence/measures.md', 'docs/evidence/pairs.md', 'docs/record.md', 'docs/README.md'],
];
const LIMITS = { words: 25_050, meanSentence: 17, cell: 200 };
/** Words of ours for what has a common name. */
const OWN_WORDS = /\b(asked anew|resolvers?|context authors?|the record|on record|held)\b/gi;

const pages = ['README.md', 'CONTRIBUTING.md', ...docPages()].filter((page) => !GENERATED.includes(page));

const read = (page: string) => readFileSync(`${ROOT}/${page}`, 'utf8');
const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');
/** Counts what has a letter or a digit, in code as in prose; bars and dashes of tables are no words. */
const countWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Lists the sentences of a page's paragraphs, list items and quotes; a piece of code in one counts as a word. */
function sentencesOf(text: string): string[] {
  const prose = withoutCode(text)
    .split('\n')
    .map((line) => (/^(\||#|!\[|<!--)/.test(line) ? '' : line.replace(/^\s*([-*>]|\d+\.) /, '\n')))
    .join('\n')
    .replaceAll(/`[^`]*`/g, 'code');
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]\)?[*"]*) (?=\p{Lu}|[*`[(])/u))
    .filter((sentence) => countWords(sentence) > 0);
}

function cellsOf(text: string): string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.flatMap((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

function meanSentence(text: string): number {
  const sentences = sentencesOf(text);
  return countWords(sentences.join(' ')) / sentences.length;
}

test(`the pages that people write have at most ${LIMITS.words} words in all`, () => {
  const counted = pages.map((page) => ({ page, words: countWords(read(page)) }));
  const total = counted.reduce((sum, { words }) => sum + words, 0);
  for (const { page, words } of counted) console.info(`${String(words).padStart(6)} ${page}`);
  console.info(`${String(total).padStart(6)} words in all, without ${GENERATED.join(', ')}`);
  expect(total).toBeLessThanOrEqual(LIMITS.words);
});

describe.each(pages)('%s', (page) => {
  test(`has sentences of less than ${LIMITS.meanSentence} words on average`, () => {
    expect(meanSentence(read(page))).toBeLessThan(LIMITS.meanSentence);
  });

  test(`has no table cell over ${LIMITS.cell} characters`, () => {
    expect(cellsOf(read(page)).filter((cell) => cell.length > LIMITS.cell)).toEqual([]);
  });
});

test.each(pages.filter((page) => !INTERNALS.includes(page)))(
  '%s has no words of our own for what has a common name',
  (page) => {
    expect(
      withoutCode(read(page))
        .replaceAll(/`[^`]*`/g, '')
        .match(OWN_WORDS) ?? [],
    ).toEqual([]);
  },
);

test('a long sentence, a long cell and a word of our own are found', () => {
  const text = `# Title\n\n${'word '.repeat(40)}end.\n\n| ${'x'.repeat(201)} |\n`;
  expect(meanSentence(text)).toBeGreaterThan(LIMITS.meanSentence);
  expect(cellsOf(text).filter((cell) => cell.length > LIMITS.cell)).toHaveLength(1);
  expect('It is asked anew.'.match(OWN_WORDS)).toEqual(['asked anew']);
  expect(sentencesOf('One. Two is `a. B` here.\n- Three.\n\n| Four. |\n')).toHaveLength(3);
});
