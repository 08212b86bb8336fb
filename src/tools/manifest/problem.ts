import type { LineCounter } from 'yaml';
import { parentOf, segmentsOf } from '../../agent/json.ts';
import { callerNamed } from '../callers.ts';

/** One mistake in a manifest, at the position where it has to be corrected. Lines and columns count from 1. */
export interface ManifestProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `tools.refund_order.approval[0].when`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A mistake without its position: a JSON pointer, and whether its key or its value is wrong. */
export interface Finding {
  readonly pointer: string;
  readonly at: 'key' | 'value';
  /** The offset of the mistake in the text of the value. */
  readonly inside?: number;
  readonly message: string;
}

/** Formats a problem as editors and terminals recognize it: `manifest.yml:12:5: path: message`. */
export function formatProblem({ file, line, column, path, message }: ManifestProblem): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Adds positions to findings and sorts them by position; duplicates are removed. */
export function locateFindings(
  file: string,
  findings: readonly Finding[],
  positions: SourceMap,
): ManifestProblem[] {
  const problems = findings.map((finding) => locateFinding(file, finding, positions));
  const byText = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...byText.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Adds its position to one finding. */
export function locateFinding(file: string, finding: Finding, positions: SourceMap): ManifestProblem {
  const { pointer, at, inside, message } = finding;
  const { line, column } = at === 'key' ? positions.ofKey(pointer) : positions.ofValue(pointer, inside);
  return { file, line, column, path: positions.nameOf(pointer), message };
}

/** A position in a file; lines and columns count from 1. */
interface SourcePosition {
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

/** Returns the word that was probably meant: the nearest one that differs by a few letters only. */
export function nearestWord(written: string, words: Iterable<string>): string | undefined {
  const given = written.toLowerCase().replaceAll('-', '_');
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const word of words) {
    const distance = editDistance(given, word.toLowerCase());
    if (distance < least) {
      nearest = word;
      least = distance;
    }
  }
  return nearest;
}

/** Returns the end of a sentence that suggests the nearest word, or an empty text if none is near. */
export function didYouMean(written: string, words: Iterable<string>): string {
  const nearest = nearestWord(written, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Describes that there is no tool, or no caller, of a name: with the one that was probably meant, else with all of them. */
export function describeUnknownTool(name: string, tools: readonly string[]): string {
  const isCaller = callerNamed(name) !== undefined;
  const what = isCaller ? 'caller' : 'tool';
  const known = tools.filter((each) => (callerNamed(each) !== undefined) === isCaller);
  const others = known.length === 0 ? '' : `; the ${what}s are ${known.join(', ')}`;
  return `there is no ${what} "${name}"${didYouMean(name, known) || others}`;
}

/** Counts the letters that have to be changed, removed, added, or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 20) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
