import type { KnownBlock, RichTextElement } from '@slack/types';
import { isJsonObject, type JsonValue } from '../../agent/json.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { line, mention, plain, preformatted, words } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { opaqueArguments } from './opaque.ts';
import { renderValue } from './render-value.ts';
import { showLabel, showLine, showText } from './show-text.ts';

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
    presented.hasTitle &&
    presented.isComplete &&
    fields.isWhole &&
    showLine(presented.title).length <= TITLE_LENGTH;
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

/** Names arguments only by plain words, since their names may be anybody's. */
function opaqueText(paths: readonly string[]): string {
  const names = paths.filter((path) => NAME.test(path));
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

/** Shows who edited the call, and the changed arguments before and after, side by side. */
function editedBlocks({ originalInput, editedBy, input }: CardDetails): KnownBlock[] {
  if (originalInput === undefined) return [];
  const who = editedBy === undefined ? words(cardTexts.editedByUnknown) : mention(editedBy);
  const [before, after] = [changedIn(originalInput, input), changedIn(input, originalInput)].map((changed) =>
    renderValue(changed, SIDE),
  );
  const isShown = before?.leftOut === undefined && after?.leftOut === undefined;
  const sides = isShown
    ? [
        plain(`${cardTexts.before}\n${sideText(before?.text)}`),
        plain(`${cardTexts.after}\n${sideText(after?.text)}`),
      ]
    : [];
  return [
    line(words(cardTexts.editedBy), who, words(isShown ? '.' : cardTexts.seeOriginal)),
    ...(isShown ? [{ type: 'section' as const, fields: sides }] : []),
  ];
}

function sideText(text = ''): string {
  return text === '{}' ? 'none' : text;
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
