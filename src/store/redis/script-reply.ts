/** A reply of a script: a code, then its values. */
export type RawReply = readonly (string | readonly string[])[];

/** Checks that a reply holds only strings and lists of strings. Lists can be long, so zod would be slow here. */
export function parseReply(value: unknown): RawReply {
  if (!Array.isArray(value) || value.length === 0) throw new TypeError('A script gave an empty reply');
  for (const part of value) {
    const isSound = Array.isArray(part) ? part.every(isString) : isString(part);
    if (!isSound) throw new TypeError('A script reply holds a value that is no string');
  }
  return value;
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

/** Reads the values of a reply. A missing value is a bug in the script and throws. */
export class ScriptReply {
  readonly code: string;
  readonly #reply: RawReply;

  constructor(reply: RawReply) {
    this.#reply = reply;
    this.code = this.string(0);
  }

  string(index: number): string {
    const value = this.#reply[index];
    if (typeof value !== 'string')
      throw new TypeError(`The script reply ${JSON.stringify(this.#reply)} has no string at ${index}`);
    return value;
  }

  number(index: number): number {
    return Number(this.string(index));
  }

  list(index: number): readonly string[] {
    const value = this.#reply[index];
    if (typeof value !== 'object')
      throw new TypeError(`The script reply ${JSON.stringify(this.#reply)} has no list at ${index}`);
    return value;
  }

  /** Reads all strings from an index on. */
  strings(from: number): string[] {
    return this.#reply.slice(from).map((_, index) => this.string(from + index));
  }

  /** Reads the rest as a reply of its own, as a script that joins two gives it. */
  after(index: number): ScriptReply | undefined {
    return this.#reply.length > index ? new ScriptReply(this.#reply.slice(index)) : undefined;
  }

  /** Returns the code, which must be one of these. */
  oneOf<Code extends string>(...codes: readonly Code[]): Code {
    const code = codes.find((candidate) => candidate === this.code);
    if (code === undefined) throw new TypeError(`A script gave the unexpected code "${this.code}"`);
    return code;
  }

  /** Reads the results that most scripts share, or one that is only its code. */
  plain<Outcome extends string>(
    ...outcomes: readonly Outcome[]
  ):
    | { outcome: Outcome }
    | { outcome: 'settled'; state: string; by: string }
    | { outcome: 'unknown' | 'malformed' } {
    if (this.code === 'unknown' || this.code === 'malformed') return { outcome: this.code };
    if (this.code === 'settled') return { outcome: 'settled', state: this.string(1), by: this.string(2) };
    return { outcome: this.oneOf(...outcomes) };
  }
}
