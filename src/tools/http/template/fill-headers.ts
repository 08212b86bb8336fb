import type { JsonObject } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';
import { fillText, parseTemplate } from './template.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
// These belong to the connection: a tool that sets them could be read as two requests, or as one for another host.
const OF_THE_CONNECTION = new Set([
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

/** Says what is wrong with a header's name. */
export function headerNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'this is not the name of a header, and none may hold a placeholder';
  const lower = name.toLowerCase();
  return OF_THE_CONNECTION.has(lower) || lower.startsWith('proxy-')
    ? 'this header belongs to the connection and cannot be set'
    : undefined;
}

/** Tells whether a text can stand in a header: one line of Latin-1, without control characters. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/** Writes the headers of one call; one with an input that was not given is left out, one that is no single line is refused. */
export function fillHeaders(headers: Readonly<Record<string, string>>, input: JsonObject): Headers {
  const filled = new Headers();
  for (const [name, text] of Object.entries(headers)) {
    const value = fillText(parseTemplate(text), input, (part, path) => {
      if (isHeaderValue(part)) return part;
      throw new HttpError(
        'invalid-input',
        `"${path.join('.')}" stands in the header ${name} and may hold no line break, control character or letter beyond Latin-1; nothing was sent.`,
      );
    });
    if (value !== undefined) filled.set(name, value);
  }
  return filled;
}
