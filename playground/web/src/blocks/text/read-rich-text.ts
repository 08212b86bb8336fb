import type { JsonObject } from '../../../../slack/state/types.ts';
import { isObject, numberOf, objects, stringOf } from '../json.ts';
import { type Inline, type InlineStyle, type ListItem, type Passage, plainInlines } from './passages.ts';

const STYLES: readonly InlineStyle[] = ['bold', 'italic', 'strike', 'underline'];

/** Parses a `rich_text` block; its text is never parsed for marks, mentions or emoji. */
export function readRichText(block: unknown): Passage[] {
  const passages: Passage[] = [];
  const elements = isObject(block) ? objects(block.elements) : [];
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index];
    if (element === undefined) break;
    if (element.type !== 'rich_text_list') {
      passages.push(readPassage(element));
      continue;
    }
    // Slack writes a nested list as several lists in a row, each with its indent.
    const end = elements.findIndex((each, at) => at > index && each.type !== 'rich_text_list');
    const run = elements.slice(index, end === -1 ? elements.length : end);
    passages.push(...nestLists(run, 0));
    index += run.length - 1;
  }
  return passages;
}

function readPassage(element: JsonObject): Passage {
  const content = objects(element.elements).flatMap(readInline);
  switch (element.type) {
    case 'rich_text_section':
      return { kind: 'paragraph', content: withoutLastBreak(content) };
    case 'rich_text_preformatted':
      return { kind: 'preformatted', content: objects(element.elements).flatMap(readVerbatim) };
    case 'rich_text_quote':
      return { kind: 'quote', content: [{ kind: 'paragraph', content: withoutLastBreak(content) }] };
    default:
      return { kind: 'paragraph', content: [{ kind: 'text', text: `[${stringOf(element.type)}]` }] };
  }
}

function nestLists(lists: readonly JsonObject[], level: number): Passage[] {
  const nested: Passage[] = [];
  let index = 0;
  while (index < lists.length) {
    const list = lists[index];
    if (list === undefined) break;
    let end = index + 1;
    while (end < lists.length && indentOf(lists[end]) > level) end += 1;
    if (indentOf(list) > level) {
      nested.push(...nestLists(lists.slice(index, end), level + 1));
    } else {
      nested.push(readList(list, nestLists(lists.slice(index + 1, end), level + 1)));
    }
    index = end;
  }
  return nested;
}

function readList(list: JsonObject, below: readonly Passage[]): Passage {
  const items = objects(list.elements).map((each): ListItem => ({ content: [readPassage(each)] }));
  const last = items.pop();
  return {
    kind: 'list',
    isOrdered: list.style === 'ordered',
    start: (numberOf(list.offset) ?? 0) + 1,
    items: [...items, ...(last === undefined ? [] : [{ content: [...last.content, ...below] }])],
  };
}

function indentOf(list: JsonObject | undefined): number {
  return numberOf(list?.indent) ?? 0;
}

function readInline(element: JsonObject): Inline[] {
  const style = isObject(element.style) ? element.style : {};
  const pieces = style.code === true ? readCode(element) : readPiece(element);
  return STYLES.filter((name) => style[name] === true).reduce<Inline[]>(
    (content, name) => [{ kind: 'styled', style: name, content }],
    pieces,
  );
}

function readCode(element: JsonObject): Inline[] {
  if (element.type === 'link') {
    const code: Inline = { kind: 'code', text: stringOf(element.text) || stringOf(element.url) };
    return [{ kind: 'link', url: stringOf(element.url), content: [code] }];
  }
  return element.type === 'text' ? [{ kind: 'code', text: stringOf(element.text) }] : readPiece(element);
}

function readVerbatim(element: JsonObject): Inline[] {
  if (element.type !== 'link') return [{ kind: 'text', text: stringOf(element.text) }];
  return readPiece(element);
}

function readPiece(element: JsonObject): Inline[] {
  switch (element.type) {
    case 'text':
      return plainInlines(stringOf(element.text));
    case 'link': {
      const url = stringOf(element.url);
      return [{ kind: 'link', url, content: plainInlines(stringOf(element.text) || url) }];
    }
    case 'user':
      return [{ kind: 'user', id: stringOf(element.user_id) }];
    case 'channel':
      return [{ kind: 'channel', id: stringOf(element.channel_id) }];
    case 'usergroup':
      return [{ kind: 'group', id: stringOf(element.usergroup_id) }];
    case 'team':
      return [{ kind: 'text', text: `@${stringOf(element.team_id)}` }];
    case 'broadcast':
      return [{ kind: 'broadcast', range: stringOf(element.range) }];
    case 'color':
      return [{ kind: 'color', value: stringOf(element.value) }];
    case 'emoji': {
      const unicode = readUnicode(stringOf(element.unicode));
      return [{ kind: 'emoji', name: stringOf(element.name), ...(unicode !== undefined && { unicode }) }];
    }
    case 'date':
      return [
        {
          kind: 'date',
          timestamp: numberOf(element.timestamp) ?? Number.NaN,
          format: stringOf(element.format),
          fallback: stringOf(element.fallback),
          ...(typeof element.url === 'string' && { url: element.url }),
        },
      ];
    default:
      return [{ kind: 'text', text: `[${stringOf(element.type)}]` }];
  }
}

/** Slack writes an emoji as its code points, `1f469-200d-1f4bb`. */
function readUnicode(codes: string): string | undefined {
  if (!/^[0-9a-f]{2,6}(-[0-9a-f]{2,6})*$/i.test(codes)) return undefined;
  const points = codes.split('-').map((code) => Number.parseInt(code, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : undefined;
}

/** A section's last line break only ends it. */
function withoutLastBreak(content: readonly Inline[]): readonly Inline[] {
  return content.at(-1)?.kind === 'break' ? content.slice(0, -1) : content;
}
