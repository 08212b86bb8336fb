import type { JsonValue } from '../../agent/json.ts';
import { segmentsOf } from '../../agent/util/json-pointer.ts';
import { HttpError } from '../errors.ts';
import { valueAt } from './template/template.ts';

export interface ReadOptions {
  /** The call as people may see it: method, origin and path. */
  readonly call: string;
  readonly select: string | undefined;
  readonly redact: (text: string) => string;
}

const MAX_EXCERPT_LENGTH = 500;
// More than is shown, so that a secret at the edge of the excerpt is still complete and gets redacted.
const MAX_ERROR_BYTES = 64 * 1024;

/** Reads a response: JSON if its content type says so, otherwise its text. A status outside 2xx is an error with an excerpt. */
export async function readResponse(response: Response, options: ReadOptions): Promise<JsonValue> {
  const { call, select, redact } = options;
  const { status } = response;
  if (!response.ok) {
    const excerpt = redact(await readBeginning(response))
      .trim()
      .slice(0, MAX_EXCERPT_LENGTH);
    throw new HttpError('bad-answer', `${call} answered ${status}${excerpt === '' ? '' : `: ${excerpt}`}`, {
      status,
    });
  }
  const text = await response.text();
  const isJson = /^[^/]+\/(?:[^;]*\+)?json\s*(?:;|$)/i.test(response.headers.get('content-type') ?? '');
  if (text === '' && select === undefined) return null;
  if (!isJson && select === undefined) return text;
  const value = parseJson(text);
  if (value === undefined) {
    throw new HttpError(
      'bad-answer',
      `${call} answered ${status}, so it took place, but with a body that is not JSON.`,
      {
        status,
      },
    );
  }
  const selected = select === undefined ? value : selectValue(value, select);
  if (selected === undefined) {
    throw new HttpError(
      'bad-answer',
      `${call} answered ${status}, so it took place, but with nothing at "${select}".`,
      {
        status,
      },
    );
  }
  return selected;
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readBeginning(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      size += chunk.byteLength;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status matters most; a body that breaks off, is too long or too slow only shortens the excerpt.
  }
  return text;
}

/** Splits `/data/items/0` (JSON Pointer) or `data.items.0` into its segments. */
export function parseSelection(select: string): readonly string[] {
  if (select === '') return [];
  return select.startsWith('/') ? segmentsOf(select) : select.split('.');
}

/** Returns the value that a selection points to, among own properties only. */
export function selectValue(value: JsonValue, select: string): JsonValue | undefined {
  return valueAt(value, parseSelection(select));
}
