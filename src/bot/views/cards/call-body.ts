import type { KnownBlock, RichTextElement } from '@slack/types';
import type { JsonValue } from '../../../agent/json.ts';
import { TABLE } from '../../../tools/presentation/table.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { cut, excerpt, showLabel, showLine, showText } from '../texts/show-text.ts';
import { context, line, type Pair, pairRows, preformatted } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { type Room, renderValue } from './render-value.ts';

/** The part of a card that shows what will run. */
export interface CallBody {
  readonly blocks: KnownBlock[];
  /** Whether everything that runs can be read on the card; otherwise nobody can approve there. */
  readonly isWhole: boolean;
}

/** The room for a title beside its icon. */
export const TITLE_LENGTH = limits.header - 4;

/**
 * Shows the fields of a call, and its arguments if they do not all appear in the title and the fields. What has no room is named as not
 * shown.
 */
export function buildCallBody(
  details: Pick<CardDetails, 'presented' | 'input' | 'originalInput' | 'facets'>,
): CallBody {
  const { presented, input } = details;
  const isTitleWhole = fitsLine(presented.title, TITLE_LENGTH);
  const fields = buildFields(presented.fields.filter(({ isInTitle }) => !isTitleWhole || isInTitle !== true));
  const isInWords = presented.isComplete && (!presented.hasTitle || isTitleWhole);
  const rendered = isInWords
    ? undefined
    : renderValue(input, { characters: limits.argumentCharacters, lines: limits.argumentLines });
  const opaque = opaqueArguments(input);
  return {
    blocks: [
      ...fields.blocks,
      ...(rendered === undefined ? [] : [preformatted(rendered.text)]),
      ...(rendered?.leftOut === undefined ? [] : [line(words(`${rendered.leftOut}.`, { bold: true }))]),
      ...(opaque.length === 0 ? [] : [line(words(opaqueText(opaque), { bold: true }))]),
      ...changedBlocks(details),
    ],
    isWhole: rendered === undefined ? fields.isWhole : rendered.leftOut === undefined,
  };
}

const NAME = /^[A-Za-z_][\w.]{0,60}$/;
const MAX_NAMED = 5;

/** Names a few arguments, only by plain words, since their names may be anybody's; counts all others. */
function opaqueText(paths: readonly string[]): string {
  const names = paths.filter((path) => NAME.test(path)).slice(0, MAX_NAMED);
  return cardTexts.opaque(names, paths.length - names.length);
}

/** The room for all fields together, and for a value of several lines. */
const FIELDS: Room = { characters: 4_000, lines: 60 };
const VALUE: Room = { characters: 1_200, lines: 9 };
/** The beginning and the end of a longer value that are shown. */
const FIRST = { characters: 600, lines: 6 };
const LAST = { characters: 200, lines: 2 };

/** The room for the changes that a caller shows, and their format. */
const CHANGES: Room = { characters: 2_000, lines: 24 };
export const DIFF = 'diff';

type PresentedField = CardDetails['presented']['fields'][number];

/** The most fields that a card shows; of more, it shows the first few and counts the others. */
const MOST_FIELDS = 10;
const FEW_FIELDS = 6;

/** Shows short values below their labels, two in a row, and longer ones by themselves. */
export function buildFields(all: readonly PresentedField[]): CallBody {
  const fields = all.length > MOST_FIELDS ? all.slice(0, FEW_FIELDS) : all;
  const others = all.length - fields.length;
  let [characters, lines] = [0, 0];
  let isWhole = others === 0;
  const blocks: KnownBlock[] = [];
  let pairs: Pair[] = [];
  const flush = () => {
    blocks.push(...pairRows(pairs));
    pairs = [];
  };
  for (const { label, text, format } of fields) {
    if (format === DIFF) {
      const { text: start, leftOut } = excerpt(text, CHANGES);
      flush();
      blocks.push(labelledBox(label, start.replace(/…$/, ''), 'code'));
      const lines = text.split('\n').length - start.split('\n').length;
      if (leftOut > 0) blocks.push(line(words(cardTexts.changesCut(Math.max(1, lines)), { bold: true })));
      if (leftOut > 0) isWhole = false;
      continue;
    }
    const { read, unread } = readEnds(text);
    const whole = showText(read);
    const shown = fits(whole, VALUE) ? whole : shorten(whole, unread);
    const height = shown.split('\n').length;
    if (shown !== whole) isWhole = false;
    characters += shown.length;
    lines += height;
    if (characters > FIELDS.characters || lines > FIELDS.lines) {
      isWhole = false;
      pairs.push({ label, value: cardTexts.notShown(whole.length + unread) });
    } else if (format === 'channel' && CHANNEL.test(shown)) {
      flush();
      blocks.push(line(labelled(label), { type: 'channel', channel_id: shown }));
    } else if (isLaidOut(format) || height > 1 || shown.length > ROW_CHARACTERS) {
      flush();
      blocks.push(labelledBox(label, shown, format));
    } else pairs.push({ label, value: shown });
  }
  flush();
  if (others > 0) blocks.push(line(words(cardTexts.moreFields(others), { bold: true })));
  return { blocks, isWhole };
}

const CHANNEL = /^[CG][A-Z0-9]{6,20}$/;
/** The longest value that stands beside its label. */
const ROW_CHARACTERS = 160;

function fits(text: string, { characters, lines }: Room): boolean {
  return text.length <= characters && text.split('\n').length <= lines;
}

/** A longer value is read so far from its beginning and from its end; more of it is never shown. */
const READ = 5_000;

function readEnds(text: string): { readonly read: string; readonly unread: number } {
  if (text.length <= 2 * READ) return { read: text, unread: 0 };
  return { read: text.slice(0, READ) + text.slice(-READ), unread: text.length - 2 * READ };
}

/** Tells whether a text has room in one line as it is shown; nothing is shown shorter than it is. */
export function fitsLine(text: string, length: number): boolean {
  return text.length <= length && showLine(text).length <= length;
}

/** Tells whether somebody's words can be a heading: one line, whole. */
export function fitsHeading(text: string, length: number = limits.header): boolean {
  return text.trim() !== '' && !text.includes('\n') && fitsLine(text, length);
}

/** Keeps the beginning and the end of a text, and says how much is left out between them. */
function shorten(text: string, unread: number): string {
  const lines = text.split('\n');
  const hasLines = lines.length > FIRST.lines + LAST.lines;
  const head = cut(hasLines ? lines.slice(0, FIRST.lines).join('\n') : text, FIRST.characters).replace(
    /…$/,
    '',
  );
  const tail = hasLines ? lines.slice(-LAST.lines).join('\n') : text;
  // After a blank no character is cut in two.
  const end =
    tail.length <= LAST.characters ? tail : (/\s(.*)$/s.exec(tail.slice(-LAST.characters))?.[1] ?? '');
  const kept = hasLines || text.length > FIRST.characters + LAST.characters ? end : '';
  const hidden = text.length - head.length - kept.length + unread;
  return [head, cardTexts.hidden(hidden), ...(kept === '' ? [] : [kept])].join('\n');
}

function labelled(label: string): RichTextElement {
  return words(`${showLabel(label, limits.label)}  `, { bold: true });
}

/** Tells whether the blanks of a value count: of code, and of a table. */
function isLaidOut(format: string | undefined): boolean {
  return format === 'code' || format === TABLE;
}

/** Shows a longer value below its label: code and tables as they are laid out, other text as a quote. */
function labelledBox(label: string, shown: string, format: string | undefined): KnownBlock {
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_section', elements: [labelled(label)] },
      isLaidOut(format)
        ? { type: 'rich_text_preformatted', elements: [{ type: 'text', text: shown }] }
        : { type: 'rich_text_quote', elements: [words(shown)] },
    ],
  };
}

const CHANGED_CHARACTERS = 200;
const MAX_CHANGES = 10;

/** Shows only what an edit changed, before and after. */
function changedBlocks({
  originalInput,
  facets: { edit },
}: Pick<CardDetails, 'originalInput' | 'facets'>): KnownBlock[] {
  if (originalInput === undefined) return [];
  const { changes = [] } = edit ?? {};
  const isShort = changes.every(
    ({ before, after }) => fitsLine(before, CHANGED_CHARACTERS) && fitsLine(after, CHANGED_CHARACTERS),
  );
  if (changes.length === 0 || !isShort || changes.length > MAX_CHANGES)
    return [context(words(cardTexts.seeOriginal))];
  return changes.map(({ label, before, after }) =>
    line(
      labelled(label),
      words(showLine(before), { strike: true }),
      words(' → '),
      words(showLine(after), { bold: true }),
    ),
  );
}

const MIN_LENGTH = 80;
const ENCODED = /[A-Za-z0-9+/_-]{80,}={0,2}/g;
const HEX = /(?:[0-9a-fA-F]{2}){40,}/;
const PERCENT = /(?:%[0-9a-fA-F]{2}){12,}/;
const ESCAPES = /(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}){12,}/;
const SCRIPT =
  /<script\b|\beval\s*\(|\bFunction\s*\(|\bbase64\s+(?:-d|--decode)\b|-enc(?:odedcommand)?\s+[A-Za-z0-9+/=]{20,}|^#!|\bdata:[\w/+.-]+;base64,/im;
const MAX_DEPTH = 200;

/** Lists all arguments, by path, that a person cannot judge by reading: encoded text and scripts. */
function opaqueArguments(input: JsonValue): string[] {
  const found: string[] = [];
  const visit = (value: JsonValue, path: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') {
      if (isOpaque(value)) found.push(path);
    } else if (typeof value === 'object' && value !== null)
      for (const [name, entry] of Object.entries(value))
        visit(entry, path === '' ? name : `${path}.${name}`, depth + 1);
  };
  visit(input, '', 0);
  return found;
}

/** Tells whether a text is encoded or is a script. */
export function isOpaque(text: string): boolean {
  if (SCRIPT.test(text)) return true;
  if (text.length < MIN_LENGTH / 2) return false;
  if (PERCENT.test(text) || ESCAPES.test(text) || HEX.test(text)) return true;
  // A long word of letters only may be an identifier or a drawn line; encoded bytes mix cases and digits.
  return [...text.matchAll(ENCODED)].some(
    ([run]) => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run),
  );
}
