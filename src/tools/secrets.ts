/** The secret values of this process. Every text that leaves the process passes through `redact`. */
export class Secrets {
  readonly #values = new Set<string>();

  /** Adds a value and its encoded forms; values under four characters are ignored, since they occur in ordinary text. */
  add(value: string): void {
    if (value.length < 4) return;
    for (const form of encodedForms(value)) this.#values.add(form);
  }

  redact(text: string): string {
    let redacted = text;
    // A secret may contain another one, so the longer is replaced first.
    for (const value of [...this.#values].sort((a, b) => b.length - a.length)) {
      redacted = redacted.replaceAll(value, '[redacted]');
    }
    return redacted;
  }
}

/** Returns a value as it is, and as JSON, URLs and forms encode it. */
function encodedForms(value: string): string[] {
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  // A lone surrogate cannot be encoded in a URL; a buffer replaces it, as a form does.
  const inUrl = encodeURIComponent(Buffer.from(value).toString());
  return [value, inJson, inUrl, form];
}
