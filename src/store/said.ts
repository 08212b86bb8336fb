import { canonicalJson, type JsonObject } from '../agent/json.ts';
import { sha256 } from './digest.ts';
import type { Said } from './run-script.ts';

/** Takes what a script said apart; a word that is missing is a bug in the script and throws. */
export class Answer {
  readonly code: string;
  readonly #said: Said;

  constructor(said: Said) {
    this.#said = said;
    this.code = this.word(0);
  }

  word(index: number): string {
    const word = this.#said[index];
    if (typeof word !== 'string')
      throw new TypeError(`A script said ${JSON.stringify(this.#said)} without a word at ${index}`);
    return word;
  }

  /** The code, which must be one of these. */
  oneOf<Code extends string>(...codes: readonly Code[]): Code {
    const code = codes.find((candidate) => candidate === this.code);
    if (code === undefined) throw new TypeError(`A script said "${this.code}", which nobody expects`);
    return code;
  }

  number(index: number): number {
    return Number(this.word(index));
  }

  list(index: number): readonly string[] {
    const list = this.#said[index];
    if (typeof list !== 'object')
      throw new TypeError(`A script said ${JSON.stringify(this.#said)} without a list at ${index}`);
    return list;
  }

  /** A list of names and values as an object. */
  pairs(index: number): Record<string, string> {
    const list = this.list(index);
    const found: Record<string, string> = {};
    for (let at = 0; at + 1 < list.length; at += 2) found[list[at] ?? ''] = list[at + 1] ?? '';
    return found;
  }

  /** What follows from an index on as an answer of its own, as a script that joins two gives it. */
  after(index: number): Answer | undefined {
    return this.#said.length > index ? new Answer(this.#said.slice(index)) : undefined;
  }

  /** All words from an index on. */
  words(from: number): string[] {
    return this.#said.slice(from).map((_, index) => this.word(from + index));
  }

  /** The results that many scripts share, and any that is only its code. */
  plain<Outcome extends string>(
    ...outcomes: readonly Outcome[]
  ):
    | { outcome: Outcome }
    | { outcome: 'settled'; state: string; by: string }
    | { outcome: 'unknown' | 'malformed' } {
    if (this.code === 'unknown' || this.code === 'malformed') return { outcome: this.code };
    if (this.code === 'settled') return { outcome: 'settled', state: this.word(1), by: this.word(2) };
    return { outcome: this.oneOf(...outcomes) };
  }
}

/** What is said of a deed in the audit log: the text, and the digest that the chain covers. */
export function statement(body: JsonObject): [text: string, digest: string] {
  const text = canonicalJson(body);
  return [text, sha256(text)];
}
