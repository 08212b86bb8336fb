/** The secret values of this process. Every text that leaves the process passes through `redact`. */
export class Secrets {
  readonly #values = new Map<string, number>();

  /** Adds a value and its encoded forms; values under four characters are ignored, since they occur in ordinary text. */
  add(value: string): void {
    if (value.length < 4) return;
    for (const form of encodedForms(value)) this.#values.set(form, (this.#values.get(form) ?? 0) + 1);
  }

  /** Forgets a value that was added and is valid no longer; one that was added twice stays. */
  remove(value: string): void {
    if (value.length < 4) return;
    for (const form of encodedForms(value)) {
      const count = this.#values.get(form) ?? 0;
      if (count > 1) this.#values.set(form, count - 1);
      else this.#values.delete(form);
    }
  }

  redact(text: string): string {
    let redacted = text;
    // A secret may contain another one, so the longer is replaced first.
    for (const value of [...this.#values.keys()].sort((a, b) => b.length - a.length)) {
      redacted = redacted.replaceAll(value, '[redacted]');
    }
    return redacted;
  }
}

/** Returns a value as it is, and as JSON, URLs, forms, base64 and hex encode it. */
function encodedForms(value: string): string[] {
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  // A lone surrogate cannot be encoded in a URL; a buffer replaces it, as a form does.
  const inUrl = encodeURIComponent(bytes.toString());
  const forms = [value, inJson, inUrl, form];
  if (bytes.length < MIN_BINARY_BYTES) return forms;
  const hex = bytes.toString('hex');
  return [...forms, hex, hex.toUpperCase(), ...base64Forms(bytes)];
}

/** Shorter values would redact ordinary text that happens to look like their base64. */
const MIN_BINARY_BYTES = 8;

/** Returns the part of a value's base64 that does not depend on its neighbours, for each of the three places where it may begin. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
