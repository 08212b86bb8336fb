import type { LineCounter } from 'yaml';
import { parentOf, segmentsOf } from '../../../agent/util/json-pointer.ts';

export interface Place {
  readonly line: number;
  readonly column: number;
}

interface Entry {
  readonly key: number | undefined;
  readonly value: number;
  readonly isItem: boolean;
}

/** Knows where each key and value of a file stands; what has no place of its own stands where its container does. */
export class Places {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #entries = new Map<string, Entry>();

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  add(pointer: string, entry: Entry): void {
    // What an alias repeats keeps the place where it is written out.
    if (!this.#entries.has(pointer)) this.#entries.set(pointer, entry);
  }

  at(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  ofKey(pointer: string): Place {
    const [entry, isOwn] = this.#find(pointer);
    return this.at(isOwn ? (entry?.key ?? entry?.value ?? 0) : (entry?.key ?? 0));
  }

  /** The place of a value, or of a character inside its text where that is written without escapes. */
  ofValue(pointer: string, inside?: number): Place {
    const [entry, isOwn] = this.#find(pointer);
    if (entry === undefined) return this.at(0);
    if (!isOwn) return this.at(entry.key ?? entry.value);
    if (inside === undefined || /^[|>]/.test(this.#text.slice(entry.value))) return this.at(entry.value);
    const opensWithQuote = /^["']/.test(this.#text.slice(entry.value));
    return this.at(entry.value + (opensWithQuote ? 1 : 0) + inside);
  }

  /** The pointer of the innermost value that begins before an offset, for what is found in the bare text. */
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

  /** A pointer in the words of the file: `tools.refund_order.approval[0].when`. */
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
