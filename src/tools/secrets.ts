/** Values that nobody may see: whatever leaves the process passes through `redact`. */
export class Secrets {
  readonly #values = new Set<string>();

  /** Very short values are not taken: hiding them would tear holes into ordinary text. */
  add(value: string): void {
    if (value.length < 4) return;
    for (const written of waysToWrite(value)) this.#values.add(written);
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

/** As it is, and as it stands inside JSON, a URL and a form, where some of its characters look different. */
function waysToWrite(value: string): string[] {
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  // Half a character cannot stand in a URL; a buffer replaces it, as a form does.
  const inUrl = encodeURIComponent(Buffer.from(value).toString());
  return [value, inJson, inUrl, form];
}
