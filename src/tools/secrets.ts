/** The secret values of this process. Every text that leaves the process passes through `redact`. */
export class Secrets {
  readonly #values = new Map<string, number>();
  /** Values that were renewed and are still valid. */
  #ending: { readonly value: string; readonly endsAt: number }[] = [];

  /** Adds a value and its encoded forms; values under four characters are ignored, since they occur in ordinary text. */
  add(value: string): void {
    if (value.length < 4) return;
    for (const form of encodedForms(value)) this.#values.set(form, (this.#values.get(form) ?? 0) + 1);
  }

  /** Forgets a value that was added as soon as it is valid no longer; one that was added twice stays. */
  remove(value: string, endsAt: number): void {
    if (value.length >= 4) this.#ending.push({ value, endsAt });
  }

  #forgetEnded(): void {
    const now = Date.now();
    if (this.#ending.every(({ endsAt }) => endsAt > now)) return;
    const ended = this.#ending.filter(({ endsAt }) => endsAt <= now);
    this.#ending = this.#ending.filter(({ endsAt }) => endsAt > now);
    for (const { value } of ended) this.#forget(value);
  }

  #forget(value: string): void {
    for (const form of encodedForms(value)) {
      const count = this.#values.get(form) ?? 0;
      if (count > 1) this.#values.set(form, count - 1);
      else this.#values.delete(form);
    }
  }

  redact(text: string): string {
    this.#forgetEnded();
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

interface LiteralSecret {
  readonly offset: number;
  readonly message: string;
}

/** Match tokens of well-known services, with enough further characters to be real ones. */
const TOKENS = [
  /\b(xox[a-z](?:\.xox[a-z])?-)[A-Za-z0-9-]{10,}/g,
  /\b(xapp-)[A-Za-z0-9-]{10,}/g,
  /\b(sk-)[A-Za-z0-9_-]{16,}/g,
  /\b([sr]k_(?:live|test)_)[A-Za-z0-9]{16,}/g,
  /\b(gh[opusr]_)[A-Za-z0-9]{20,}/g,
  /\b(github_pat_)[A-Za-z0-9_]{20,}/g,
  /\b(glpat-)[A-Za-z0-9_-]{16,}/g,
  /\b(npm_)[A-Za-z0-9]{30,}/g,
  /\b(AKIA)[A-Z0-9]{16}\b/g,
  /\b(AIza)[A-Za-z0-9_-]{30,}/g,
  /\b(eyJ)[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}/g,
  /(-----BEGIN )[A-Z ]*PRIVATE KEY-----/g,
  /(hooks\.slack\.com\/services\/)T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]{10,}/g,
  /\b(Bearer )(?=[A-Za-z0-9_.~+/-]*[0-9])[A-Za-z0-9_.~+/-]{16,}/g,
  /(?<=:\/\/)([^\s/:@"'{}$]+:)[^\s/@"'{}$]{3,}@/g,
];

/** Finds text that looks like a token, in comments too. A message repeats only its beginning. */
export function findLiteralSecrets(text: string): LiteralSecret[] {
  const found = TOKENS.flatMap((token) =>
    [...text.matchAll(token)].map(({ index, 1: beginning = '' }) => ({ offset: index, beginning })),
  );
  const offsets = new Set<number>();
  return found
    .filter(({ offset }) => !offsets.has(offset) && offsets.add(offset))
    .map(({ offset, beginning }) => ({
      offset,
      message: `${beginning.trim()}… looks like a secret; keep it in the environment and write \${NAME} here`,
    }));
}
