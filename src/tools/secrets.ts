/** Values that nobody may see: whatever leaves the process passes through `redact`. */
export class Secrets {
  readonly #values = new Set<string>();

  /** Very short values are not taken: hiding them would tear holes into ordinary text. */
  add(value: string): void {
    if (value.length >= 4) this.#values.add(value);
  }

  redact(text: string): string {
    let redacted = text;
    // A secret may contain another one; the longer goes first.
    for (const value of [...this.#values].sort((a, b) => b.length - a.length)) {
      redacted = redacted.replaceAll(value, '[redacted]');
    }
    return redacted;
  }
}
