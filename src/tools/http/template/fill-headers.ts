import type { JsonObject } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';
import { fillText, parseTemplate } from './template.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
// These belong to the connection: with them one request could be read as two, or as one for another host.
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the problem of a header's name, if it has one. */
export function headerNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'this is not the name of a header, and none may hold a placeholder';
  const lower = name.toLowerCase();
  return CONNECTION_HEADERS.has(lower) || lower.startsWith('proxy-')
    ? 'this header belongs to the connection and cannot be set'
    : undefined;
}

/** Tells whether a text is a valid header value: one line of Latin-1, without control characters. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/** Fills the headers of one call. A header with a missing input is left out; an invalid value is an error. */
export function fillHeaders(headers: Readonly<Record<string, string>>, input: JsonObject): Headers {
  const filled = new Headers();
  for (const [name, text] of Object.entries(headers)) {
    const value = fillText(parseTemplate(text), input, (part, path) => {
      if (isHeaderValue(part)) return part;
      throw new HttpError(
        'invalid-input',
        `"${path.join('.')}" is in the header ${name} and may hold no line break, control character or letter beyond Latin-1; nothing was sent.`,
      );
    });
    if (value !== undefined) filled.set(name, value);
  }
  return filled;
}
