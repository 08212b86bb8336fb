import type { KnownBlock, RichTextElement } from '@slack/types';
import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { mention, words } from '../texts/format.ts';
import { showLabel, showLine, showText } from '../texts/show-text.ts';
import { line, plain, preformatted } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { renderValue } from './render-value.ts';

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
export function buildCallBody(details: CardDetails): CallBody {
  const { presented, input } = details;
  const fields = fieldBlocks(presented.fields);
  const isInWords =
    presented.isComplete &&
    fields.isWhole &&
    // A title by default tells nothing that is not in the fields.
    (!presented.hasTitle || showLine(presented.title).length <= TITLE_LENGTH);
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
      ...editedBlocks(details),
    ],
    isWhole: rendered?.leftOut === undefined,
  };
}

const NAME = /^[A-Za-z_][\w.]{0,60}$/;
const MAX_NAMED = 5;

/** Names a few arguments, only by plain words, since their names may be anybody's; counts all others. */
function opaqueText(paths: readonly string[]): string {
  const names = paths.filter((path) => NAME.test(path)).slice(0, MAX_NAMED);
  return cardTexts.opaque(names, paths.length - names.length);
}

const FIELD_CHARACTERS = 1_500;
const FIELD_LINES = 20;

function fieldBlocks(fields: CardDetails['presented']['fields']): CallBody {
  let [characters, lines] = [0, 0];
  let isWhole = true;
  const blocks = fields.map(({ label, text, format }) => {
    const shown = showText(text);
    const height = shown.split('\n').length;
    const name = words(`${showLabel(label, limits.label)}: `, { bold: true });
    if (characters + shown.length > FIELD_CHARACTERS || lines + height > FIELD_LINES) {
      isWhole = false;
      return line(name, words(cardTexts.notShown(shown)));
    }
    characters += shown.length;
    lines += height;
    if (height > 1) return multilineField(name, shown);
    return line(name, valueElement(shown, format));
  });
  return { blocks, isWhole };
}

function valueElement(shown: string, format: string | undefined): RichTextElement {
  if (format === 'channel' && /^[CG][A-Z0-9]{6,20}$/.test(shown))
    return { type: 'channel', channel_id: shown };
  if (format === 'code') return { type: 'text', text: shown, style: { code: true } };
  return words(shown);
}

function multilineField(name: RichTextElement, shown: string): KnownBlock {
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_section', elements: [name] },
      { type: 'rich_text_quote', elements: [words(shown)] },
    ],
  };
}

const SIDE = { characters: 900, lines: 12 };

/** Shows who edited the call, and what they changed, before and after, side by side. */
function editedBlocks(details: CardDetails): KnownBlock[] {
  const { originalInput, editedBy, input } = details;
  if (originalInput === undefined) return [];
  const who = editedBy === undefined ? words(cardTexts.editedByUnknown) : mention(editedBy);
  const sides = changedWords(details) ?? changedArguments(originalInput, input);
  const by = line(words(cardTexts.editedBy), who, words(sides === undefined ? cardTexts.seeOriginal : '.'));
  if (sides === undefined) return [by];
  const [before, after] = sides;
  const fields = [plain(`${cardTexts.before}\n${before}`), plain(`${cardTexts.after}\n${after}`)];
  return [by, { type: 'section', fields }];
}

type Sides = readonly [before: string, after: string];

/** Tells the change in the words of the call; `undefined` if they do not tell it, or are too long. */
function changedWords({ presented }: CardDetails): Sides | undefined {
  const { original } = presented;
  if (original === undefined) return undefined;
  // A title by default repeats what the fields say.
  const [before, after] = [original, presented].map((words) => wordsOf(words, presented.hasTitle));
  if (before === undefined || after === undefined) return undefined;
  const sides = [
    before.filter((text) => !after.includes(text)).join('\n'),
    after.filter((text) => !before.includes(text)).join('\n'),
  ] as const;
  const isShort = (text: string) => text.length <= SIDE.characters && text.split('\n').length <= SIDE.lines;
  if (sides.every((text) => text === '') || !sides.every(isShort)) return undefined;
  return [sides[0] || cardTexts.none, sides[1] || cardTexts.none];
}

function wordsOf(
  { title, fields }: Pick<CardDetails['presented'], 'title' | 'fields'>,
  hasTitle: boolean,
): string[] {
  return [
    ...(hasTitle ? [showLine(title)] : []),
    ...fields.map(({ label, text }) => `${showLabel(label, limits.label)}: ${showText(text)}`),
  ];
}

function changedArguments(original: JsonValue, input: JsonValue): Sides | undefined {
  const before = renderValue(changedIn(original, input), SIDE);
  const after = renderValue(changedIn(input, original), SIDE);
  if (before.leftOut !== undefined || after.leftOut !== undefined) return undefined;
  const shown = (text: string) => (text === '{}' ? cardTexts.none : text);
  return [shown(before.text), shown(after.text)];
}

/** Keeps the arguments that differ from another input. */
function changedIn(input: JsonValue, other: JsonValue): JsonValue {
  if (!isJsonObject(input) || !isJsonObject(other)) return input;
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => !Object.hasOwn(other, name) || JSON.stringify(other[name]) !== JSON.stringify(value),
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
