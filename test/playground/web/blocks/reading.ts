import type { Inline, Passage } from '../../../../playground/web/src/blocks/text/passages.ts';

/** A text as it was read, in a form short enough to compare: `bold(a)`, `user(U1)`, `quote(...)`. */
export function outline(passages: readonly Passage[]): string {
  return passages.map(outlineOfPassage).join(' | ');
}

/** The pieces of a line in the same form. */
export function outlineOfLine(content: readonly Inline[]): string {
  return content.map(outlineOfPiece).join('');
}

/** Every piece of a text, however deep. */
export function piecesIn(passages: readonly Passage[]): Inline[] {
  return passages.flatMap((passage) => {
    switch (passage.kind) {
      case 'quote':
        return piecesIn(passage.content);
      case 'list':
        return passage.items.flatMap((item) => piecesIn(item.content));
      case 'table':
        return [passage.head, ...passage.rows].flat(2).flatMap(withInner);
      case 'rule':
        return [];
      default:
        return passage.content.flatMap(withInner);
    }
  });
}

function withInner(piece: Inline): Inline[] {
  return piece.kind === 'styled' || piece.kind === 'link'
    ? [piece, ...piece.content.flatMap(withInner)]
    : [piece];
}

function outlineOfPassage(passage: Passage): string {
  switch (passage.kind) {
    case 'paragraph':
      return outlineOfLine(passage.content);
    case 'heading':
      return `h${passage.level}(${outlineOfLine(passage.content)})`;
    case 'preformatted':
      return `pre(${outlineOfLine(passage.content)})`;
    case 'quote':
      return `quote(${outline(passage.content)})`;
    case 'list': {
      const items = passage.items.map(({ isChecked, content }) => {
        const box = isChecked === undefined ? '' : isChecked ? '[x] ' : '[ ] ';
        return `${box}${outline(content)}`;
      });
      return `${passage.isOrdered ? `ol${passage.start}` : 'ul'}(${items.join('; ')})`;
    }
    case 'table': {
      const rows = [passage.head, ...passage.rows].map((row) => row.map(outlineOfLine).join(','));
      return `table(${rows.join('; ')})`;
    }
    case 'rule':
      return 'rule';
  }
}

function outlineOfPiece(piece: Inline): string {
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'break':
      return '⏎';
    case 'styled':
      return `${piece.style}(${outlineOfLine(piece.content)})`;
    case 'code':
      return `code(${piece.text})`;
    case 'link':
      return `link(${piece.url} ${outlineOfLine(piece.content)})`;
    case 'user':
    case 'channel':
    case 'group':
      return `${piece.kind}(${piece.id})`;
    case 'broadcast':
      return `broadcast(${piece.range})`;
    case 'emoji':
      return `emoji(${piece.name})`;
    case 'color':
      return `color(${piece.value})`;
    case 'date':
      return `date(${piece.timestamp} ${piece.format} ${piece.fallback})`;
  }
}
