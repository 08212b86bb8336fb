/** An inline piece of a text, rendered the same way for every source format. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'styled'; readonly style: InlineStyle; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly url: string; readonly content: readonly Inline[] }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'channel'; readonly id: string; readonly name?: string }
  | { readonly kind: 'group'; readonly id: string }
  | { readonly kind: 'broadcast'; readonly range: string }
  | { readonly kind: 'emoji'; readonly name: string; readonly unicode?: string }
  | { readonly kind: 'color'; readonly value: string }
  | {
      readonly kind: 'date';
      readonly timestamp: number;
      readonly format: string;
      readonly url?: string;
      readonly fallback: string;
    };

export type InlineStyle = 'bold' | 'italic' | 'strike' | 'underline';

/** A block-level part of a text. */
export type Passage =
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: 'preformatted'; readonly content: readonly Inline[] }
  | { readonly kind: 'quote'; readonly content: readonly Passage[] }
  | {
      readonly kind: 'list';
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly ListItem[];
    }
  | {
      readonly kind: 'table';
      readonly alignments: readonly Alignment[];
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: 'rule' };

export type Alignment = 'left' | 'center' | 'right';

export interface ListItem {
  /** For a task of a list: whether it is done. */
  readonly isChecked?: boolean;
  readonly content: readonly Passage[];
}

/** Splits plain text into lines without parsing it. */
export function plainInlines(text: string): Inline[] {
  return text
    .split('\n')
    .flatMap((line, index): Inline[] => [
      ...(index === 0 ? [] : [{ kind: 'break' } as const]),
      ...(line === '' ? [] : [{ kind: 'text', text: line } as const]),
    ]);
}

/** Returns the plain text of inline pieces. */
export function plainTextOf(content: readonly Inline[]): string {
  return content
    .map((piece) => {
      if (piece.kind === 'text' || piece.kind === 'code') return piece.text;
      if (piece.kind === 'styled' || piece.kind === 'link') return plainTextOf(piece.content);
      return piece.kind === 'break' ? '\n' : '';
    })
    .join('');
}
