import { stripVTControlCharacters } from 'node:util';

const MOST_LINES = 20;
const LONGEST_LINE = 500;

/** Keeps the last lines of a stream, and no more of it than that. */
export class LastLines {
  readonly #lines: string[] = [];
  #unfinished = '';

  append(text: string): void {
    const [first = '', ...rest] = text.split('\n');
    this.#unfinished = (this.#unfinished + first).slice(0, LONGEST_LINE);
    for (const next of rest) {
      this.#keep(this.#unfinished);
      this.#unfinished = next.slice(0, LONGEST_LINE);
    }
  }

  read(): readonly string[] {
    return [...this.#lines, ...readable(this.#unfinished)].slice(-MOST_LINES);
  }

  #keep(line: string): void {
    this.#lines.push(...readable(line));
    if (this.#lines.length > MOST_LINES) this.#lines.splice(0, this.#lines.length - MOST_LINES);
  }
}

function readable(line: string): string[] {
  const text = stripVTControlCharacters(line).trimEnd();
  return text === '' ? [] : [text];
}
