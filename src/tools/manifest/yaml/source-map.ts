import type { LineCounter } from 'yaml';
import { parentOf, segmentsOf } from '../../../agent/util/json-pointer.ts';

/** A position in a file; lines and columns count from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

interface Entry {
  readonly key: number | undefined;
  readonly value: number;
  readonly isItem: boolean;
}

/** Maps JSON pointers to positions in a YAML file. A pointer without its own position has that of its container. */
export class SourceMap {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #entries = new Map<string, Entry>();

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  add(pointer: string, entry: Entry): void {
    // A value that an alias repeats keeps the position where it is written out.
    if (!this.#entries.has(pointer)) this.#entries.set(pointer, entry);
  }

  at(offset: number): SourcePosition {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  ofKey(pointer: string): SourcePosition {
    const [entry, isOwn] = this.#find(pointer);
    return this.at(isOwn ? (entry?.key ?? entry?.value ?? 0) : (entry?.key ?? 0));
  }

  /** Returns the position of a value, or of a character inside its text if that has no escapes. */
  ofValue(pointer: string, inside?: number): SourcePosition {
    const [entry, isOwn] = this.#find(pointer);
    if (entry === undefined) return this.at(0);
    if (!isOwn) return this.at(entry.key ?? entry.value);
    if (inside === undefined || /^[|>]/.test(this.#text.slice(entry.value))) return this.at(entry.value);
    const opensWithQuote = /^["']/.test(this.#text.slice(entry.value));
    return this.at(entry.value + (opensWithQuote ? 1 : 0) + inside);
  }

  /** Returns the pointer of the innermost value that begins before an offset. */
  pointerAt(offset: number): string {
    let found = '';
    let start = -1;
    for (const [pointer, { value }] of this.#entries) {
      if (value <= offset && value >= start) {
        found = pointer;
        start = value;
      }
    }
    return found;
  }

  /** Writes a pointer as people read it: `tools.refund_order.approval[0].when`. */
  nameOf(pointer: string): string {
    let at = '';
    return segmentsOf(pointer)
      .map((segment, depth) => {
        at = pointer
          .split('/')
          .slice(0, depth + 2)
          .join('/');
        if (this.#entries.get(at)?.isItem === true) return `[${segment}]`;
        return depth === 0 ? segment : `.${segment}`;
      })
      .join('');
  }

  #find(pointer: string): [Entry | undefined, boolean] {
    const own = this.#entries.get(pointer);
    if (own !== undefined || pointer === '') return [own, true];
    let parent = parentOf(pointer);
    while (parent !== '' && !this.#entries.has(parent)) parent = parentOf(parent);
    return [this.#entries.get(parent), false];
  }
}
