import { expect, test, vi } from 'vitest';
import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import { buildDetailsModal } from '../../../../src/bot/views/modals/details-modal.ts';
import { showLine } from '../../../../src/bot/views/texts/show-text.ts';
import { textIn } from './payloads.ts';
import { detailsFor, recordOf, THREAD_LINK } from './records.ts';

const MEGABYTE = 1_000_000;
/** The characters that a card may look at; a card shows at most a few thousand. */
const MOST_PER_CARD = 100_000;

/** Texts of a megabyte, each of another kind that takes care to show. */
const LONG = {
  'plain words': 'many words '.repeat(MEGABYTE / 11),
  'quoted words': 'many "words"\n'.repeat(MEGABYTE / 13),
  'invisible characters': 'a\u200Bb '.repeat(MEGABYTE / 4),
  'look-alikes': 'аррrоvеd bу '.repeat(MEGABYTE / 12),
  marks: `a${'\u0301'.repeat(MEGABYTE)}`,
  spaces: `a${' '.repeat(MEGABYTE)}`,
  emoji: '👩‍👩‍👧‍👦 '.repeat(MEGABYTE / 12),
};

/** Counts the characters that are looked at, one by one or by the segmenter. */
function countCharacters(work: () => void): number {
  let count = 0;
  const at = String.prototype.codePointAt;
  const segment = Intl.Segmenter.prototype.segment;
  const single = vi.spyOn(String.prototype, 'codePointAt').mockImplementation(function (this: string, index) {
    count += 1;
    return at.call(this, index);
  });
  const segmented = vi.spyOn(Intl.Segmenter.prototype, 'segment').mockImplementation(function (
    this: Intl.Segmenter,
    text,
  ) {
    count += text.length;
    return segment.call(this, text);
  });
  try {
    work();
  } finally {
    single.mockRestore();
    segmented.mockRestore();
  }
  return count;
}

test.each(Object.entries(LONG))(
  'a card reads a part of a megabyte of %s, and says what is missing',
  (_, text) => {
    const presented = {
      title: text,
      fields: [{ label: 'Note', text }],
      isComplete: true,
      hasTitle: true,
    };
    const requests = [
      recordOf({ details: detailsFor({ text, [text]: 1, list: [text] }) }),
      recordOf({ details: detailsFor(text) }),
      recordOf({
        details: detailsFor(
          { amount: 1 },
          { facets: { why: text, description: text, reason: { rule: text } }, presented },
        ),
      }),
      recordOf({ state: 'failed', details: detailsFor({ amount: 1 }), payload: JSON.stringify(text) }),
      recordOf({ kind: 'question', details: detailsFor({ question: text, choices: [text] }) }),
    ];
    for (const request of requests)
      for (const view of ['thread', 'direct'] as const) {
        let shown = '';
        const count = countCharacters(() => {
          shown = textIn(buildCard(request, { view, threadLink: THREAD_LINK }).blocks);
        });
        expect(count).toBeLessThan(MOST_PER_CARD);
        expect(shown).toMatch(/not shown|…|more characters/);
      }
  },
);

test.each(Object.entries(LONG))(
  'Details read a megabyte of %s a few times at most, and show all of it',
  (_, text) => {
    const request = recordOf({ details: detailsFor({ text }) });
    let blocks: unknown;
    const count = countCharacters(() => {
      blocks = buildDetailsModal(request, { page: 0 }).blocks;
    });
    expect(count).toBeLessThan(4 * MEGABYTE);
    const [, pages = ''] = /Page 1 of ([\d,]+)/.exec(textIn(blocks)) ?? [];
    expect(Number(pages.replaceAll(',', ''))).toBeGreaterThan(50);
  },
);

test('a mark of another script without a letter is written out, as any other', () => {
  expect(showLine(' \u0489 1\u0489\u0489\u0489\u0489\u0489')).toBe(
    ' \\u{489} 1\u0489\u0489\u0489\u0489\\u{489}',
  );
});
