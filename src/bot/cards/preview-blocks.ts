import type { KnownBlock } from '@slack/types';
import { diffLines } from 'diff';
import { cardTexts } from '../texts/cards.ts';
import { line, plain, preformatted, words } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { showText } from './show-text.ts';

interface Sides {
  readonly before: string;
  readonly after: string;
}

const SIDE_LENGTH = 300;
const DIFF_LINES = 24;
const DIFF_CHARACTERS = 1_500;
/** Unchanged lines that are kept around a change. */
const CONTEXT_LINES = 2;
const MAX_DIFF_EDITS = 2_000;

/** Shows what a call would change, and what it would have changed when it was approved before. */
export function previewBlocks({ presented: { preview, previousPreview } }: CardDetails): KnownBlock[] {
  const former =
    previousPreview === undefined
      ? []
      : [line(words(cardTexts.previewChanged, { bold: true })), ...sidesOf(previousPreview)];
  if (preview === undefined) return former;
  if (preview.outcome === 'failed') return [...former, line(words(cardTexts.previewFailed[preview.reason]))];
  return [...former, line(words(cardTexts.preview, { bold: true })), ...sidesOf(preview)];
}

/** Shows short texts side by side, and longer ones as a diff. */
function sidesOf({ before, after }: Sides): KnownBlock[] {
  const shown = [before, after].map((text) => showText(text));
  const isShort = shown.every((text) => text.length <= SIDE_LENGTH && text.split('\n').length <= 3);
  if (!isShort) return diffBlocks({ before, after });
  const side = (label: string, text = '') => plain(`${label}\n${text.trim() === '' ? '""' : text}`);
  return [
    {
      type: 'section',
      fields: [side(cardTexts.before, shown[0]), side(cardTexts.after, shown[1])],
    },
  ];
}

function diffBlocks({ before, after }: Sides): KnownBlock[] {
  const lines = changedLines({ before, after });
  if (lines.length === 0) return [line(words(cardTexts.noDifference))];
  const kept: string[] = [];
  let characters = 0;
  for (const text of lines) {
    characters += text.length + 1;
    if (kept.length === DIFF_LINES || characters > DIFF_CHARACTERS) break;
    kept.push(text);
  }
  const leftOut = lines.length - kept.length;
  return [
    ...(kept.length === 0 ? [] : [preformatted(kept.join('\n'))]),
    ...(leftOut === 0 ? [] : [line(words(cardTexts.diffCut(leftOut), { bold: true }))]),
  ];
}

/** Lists the changed lines with a sign each, and a few unchanged ones around them. */
function changedLines({ before, after }: Sides): string[] {
  const parts = diffLines(before, after, { maxEditLength: MAX_DIFF_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  if (parts.every(({ added, removed }) => !added && !removed)) return [];
  return parts.flatMap(({ value, added, removed }, index) => {
    const lines = value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => showText(text));
    if (added) return lines.map((text) => `+ ${text}`);
    if (removed) return lines.map((text) => `- ${text}`);
    const same = lines.map((text) => `  ${text}`);
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    const most = CONTEXT_LINES * (isFirst || isLast ? 1 : 2);
    if (same.length <= most) return same;
    return [
      ...(isFirst ? [] : same.slice(0, CONTEXT_LINES)),
      '  …',
      ...(isLast ? [] : same.slice(-CONTEXT_LINES)),
    ];
  });
}
