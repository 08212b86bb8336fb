import type { JsonValue } from '../../agent/json.ts';
import { HttpError } from '../errors.ts';
import { valueAt } from './template/template.ts';

export interface AnswerReading {
  /** The call as people may see it: method, origin and path. */
  readonly call: string;
  readonly select: string | undefined;
  readonly redact: (text: string) => string;
}

const LONGEST_EXCERPT = 500;
// More than is shown, so that a secret at the edge of the excerpt is still whole when it is looked for.
const MOST_ERROR_BYTES = 64 * 1024;

/** Reads what a call gave: JSON where the answer says so, otherwise its text; any status but 2xx is an error with the beginning of the answer. */
export async function readAnswer(answer: Response, reading: AnswerReading): Promise<JsonValue> {
  const { call, select, redact } = reading;
  const { status } = answer;
  if (!answer.ok) {
    const excerpt = redact(await readBeginning(answer))
      .trim()
      .slice(0, LONGEST_EXCERPT);
    throw new HttpError('bad-answer', `${call} answered ${status}${excerpt === '' ? '' : `: ${excerpt}`}`, {
      status,
    });
  }
  const text = await answer.text();
  const isJson = /^[^/]+\/(?:[^;]*\+)?json\s*(?:;|$)/i.test(answer.headers.get('content-type') ?? '');
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

async function readBeginning(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      size += chunk.byteLength;
      if (size >= MOST_ERROR_BYTES) break;
    }
  } catch {
    // The status is the news; a body that breaks off, is too long or too slow only makes the excerpt shorter.
  }
  return text;
}

/** Reads `/data/items/0` (JSON Pointer) or `data.items.0` as the names on the way. */
export function parseSelection(select: string): readonly string[] {
  if (select === '') return [];
  if (!select.startsWith('/')) return select.split('.');
  return select
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Finds what a selection points to, among own properties only; `undefined` is nothing there. */
export function selectValue(value: JsonValue, select: string): JsonValue | undefined {
  return valueAt(value, parseSelection(select));
}
