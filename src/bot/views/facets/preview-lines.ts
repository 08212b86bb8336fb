import type { KnownBlock } from '@slack/types';
import { diffLines } from 'diff';
import type { KeptFacets } from '../../../engine/facets/facets.ts';
import { context, line, pairRows, preformatted } from '../cards/card.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { showText } from '../texts/show-text.ts';

type Preview = NonNullable<KeptFacets['preview']>;

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
export function previewBlocks({ current, former: previous }: Preview): KnownBlock[] {
  const former =
    previous === undefined
      ? []
      : [line(words(cardTexts.previewChanged, { bold: true })), ...sidesOf(previous)];
  if (current === undefined) return former;
  if (current.outcome === 'failed')
    return [...former, context(words(cardTexts.previewFailed[current.reason]))];
  const { missing = [] } = current;
  return [
    ...former,
    ...sidesOf(current),
    ...(missing.length === 0 ? [] : [line(words(cardTexts.previewLacks(missing), { bold: true }))]),
  ];
}

/** Tells whether a card shows all of what a call would change. */
export function isWholePreview({ current, former }: Preview): boolean {
  return [current, former].every(
    (sides) =>
      sides === undefined ||
      !('before' in sides) ||
      shownSides(sides).isShort ||
      keptLines(changedLines(sides)).leftOut === 0,
  );
}

function shownSides({ before, after }: Sides) {
  const shown = [before, after].map((text) => showText(text));
  return {
    shown,
    isShort: shown.every((text) => text.length <= SIDE_LENGTH && text.split('\n').length <= 3),
  };
}

/** Shows short texts side by side, and longer ones as a diff. */
function sidesOf({ before, after }: Sides): KnownBlock[] {
  const { shown, isShort } = shownSides({ before, after });
  if (!isShort) return [line(words(cardTexts.preview, { bold: true })), ...diffBlocks({ before, after })];
  const side = (label: string, text = '') => ({ label, value: text.trim() === '' ? '""' : text });
  return pairRows([side(cardTexts.before, shown[0]), side(cardTexts.after, shown[1])]);
}

function diffBlocks({ before, after }: Sides): KnownBlock[] {
  const lines = changedLines({ before, after });
  if (lines.length === 0) return [line(words(cardTexts.noDifference))];
  const { kept, leftOut } = keptLines(lines);
  return [
    ...(kept.length === 0 ? [] : [preformatted(kept.join('\n'))]),
    ...(leftOut === 0 ? [] : [line(words(cardTexts.diffCut(leftOut), { bold: true }))]),
  ];
}

/** Keeps the first lines, as far as there is room. */
function keptLines(lines: readonly string[]): { readonly kept: readonly string[]; readonly leftOut: number } {
  const kept: string[] = [];
  let characters = 0;
  for (const text of lines) {
    characters += text.length + 1;
    if (kept.length === DIFF_LINES || characters > DIFF_CHARACTERS) break;
    kept.push(text);
  }
  return { kept, leftOut: lines.length - kept.length };
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
