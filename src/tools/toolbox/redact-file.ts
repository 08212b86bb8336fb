import type { ToolFile } from '../../agent/util/tool-files.ts';
import type { Secrets } from '../secrets.ts';

/**
 * Copies a file that a tool sends without secrets. Text is redacted as other output is; `undefined` for any other file in whose bytes a
 * secret stands, because nobody can take it out. What a file packs or encrypts is not searched.
 */
export function redactFile({ name, data, type }: ToolFile, secrets: Secrets): ToolFile | undefined {
  const label = { name: secrets.redact(name), ...(type !== undefined && { type: secrets.redact(type) }) };
  const bytes = Buffer.from(data);
  const text = decode(bytes);
  if (text === undefined) {
    const seen = bytes.toString('latin1');
    return secrets.redact(seen) === seen ? { ...label, data: bytes } : undefined;
  }
  const redacted = secrets.redact(text.content);
  return { ...label, data: redacted === text.content ? bytes : text.encode(redacted) };
}

interface Text {
  readonly content: string;
  readonly encode: (text: string) => Buffer;
}

/** Decodes UTF-8, or UTF-16 with its mark; `undefined` if it is no text. */
function decode(bytes: Buffer): Text | undefined {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  try {
    const decoder = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true, ignoreBOM: true });
    return {
      content: decoder.decode(bytes),
      encode: (text) => Buffer.from(text, isUtf16 ? 'utf16le' : 'utf8'),
    };
  } catch {
    return undefined;
  }
}
