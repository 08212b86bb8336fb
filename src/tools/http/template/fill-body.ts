import { isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import { HttpError } from '../../errors.ts';
import { fillPairs, fillText, parseTemplate, percentEncode, valueAt, wholePlaceholder } from './template.ts';

export type BodyFormat = 'json' | 'form' | 'markup' | 'plain';

/** Returns how values are encoded in a body of this content type; `undefined` where there is no safe way. */
export function bodyFormat(contentType: string | undefined, body: JsonValue): BodyFormat | undefined {
  if (contentType === undefined) return typeof body === 'string' ? 'plain' : 'json';
  const [type = ''] = contentType.toLowerCase().split(';');
  const essence = type.trim();
  if (/^[^/]+\/(?:.*\+)?json$/.test(essence)) return 'json';
  if (/^[^/]+\/(?:.*\+)?xml$/.test(essence) || essence === 'text/html') return 'markup';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  return essence === 'text/plain' ? 'plain' : undefined;
}

/** Fills the body of one call. No value can break out of its place; `undefined` means that there is no body. */
export function fillBody(body: JsonValue, format: BodyFormat, input: JsonObject): string | undefined {
  if (format === 'json') {
    const filled = fillTree(body, input);
    return filled === undefined ? undefined : JSON.stringify(filled);
  }
  if (format === 'form') return fillForm(body, input);
  const present = parseTemplate(String(body)).filter(
    (part) => typeof part === 'string' || (valueAt(input, part) ?? null) !== null,
  );
  return fillText(present, input, format === 'markup' ? escapeMarkup : (text) => text);
}

function fillTree(tree: JsonValue, input: JsonObject): JsonValue | undefined {
  if (typeof tree === 'string') {
    const template = parseTemplate(tree);
    const whole = wholePlaceholder(template);
    return whole === undefined ? fillText(template, input, (text) => text) : valueAt(input, whole);
  }
  if (Array.isArray(tree)) {
    return tree.map((entry: JsonValue) => fillTree(entry, input)).filter((entry) => entry !== undefined);
  }
  if (!isJsonObject(tree)) return tree;
  const entries = Object.entries(tree).flatMap(([name, entry]): [string, JsonValue][] => {
    const filled = fillTree(entry, input);
    return filled === undefined ? [] : [[name, filled]];
  });
  return Object.fromEntries(entries);
}

function fillForm(body: JsonValue, input: JsonObject): string {
  if (typeof body === 'string') return fillPairs(body.split('&').map(parseTemplate), input).join('&');
  const fields = fillTree(body, input);
  return Object.entries(isJsonObject(fields) ? fields : {})
    .flatMap(([name, value]) =>
      [value].flat().map((entry) => {
        if (typeof entry === 'object') {
          throw new HttpError(
            'invalid-input',
            `The form field "${name}" must be a text, a number or true/false, or a list of them; nothing was sent.`,
          );
        }
        return `${percentEncode(name, [name])}=${percentEncode(String(entry), [name])}`;
      }),
    )
    .join('&');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}
