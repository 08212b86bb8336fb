import { type JsonObject, type JsonValue, segmentsOf } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { HttpError } from '../errors.ts';
import { valueAt } from '../presentation/text-template.ts';

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
      `${call} answered ${status}, so the call probably went through, but with a body that is not JSON.`,
      {
        status,
      },
    );
  }
  return select === undefined ? value : selectedFrom(value, { call, status, select });
}

/** Returns the part of an answer that a selection points to; an answer without it is an error. */
export function selectedFrom(
  value: JsonValue,
  { call, status, select }: { readonly call: string; readonly status: number; readonly select: string },
): JsonValue {
  const selected = selectValue(value, select);
  if (selected !== undefined) return selected;
  const message = `${call} answered ${status}, so the call probably went through, but with nothing at "${select}".`;
  throw new HttpError('bad-answer', message, { status });
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
function parseSelection(select: string): readonly string[] {
  if (select === '') return [];
  return select.startsWith('/') ? segmentsOf(select) : select.split('.');
}

/** Returns the value that a selection points to, among own properties only. */
export function selectValue(value: JsonValue, select: string): JsonValue | undefined {
  return valueAt(value, parseSelection(select));
}

const FILE_TYPE = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|octet-stream|vnd\.|x-)/i;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;

/** Tells whether an answer is a file: by its type, or because the server says that it is to be saved. */
export function isFile({ headers }: Response): boolean {
  return FILE_TYPE.test(typeOf(headers)) || /^attachment\b/i.test(headers.get('content-disposition') ?? '');
}

/** Sends the file of an answer to the people of the thread, shows the model an image, and returns what the model reads of it. */
export async function sendFile(
  response: Response,
  { pathname }: URL,
  { file, attach }: Pick<ToolHelpers, 'file' | 'attach'>,
): Promise<JsonObject> {
  const data = Buffer.from(await response.arrayBuffer());
  const type = typeOf(response.headers);
  const name = nameIn(response.headers) ?? (pathname.split('/').at(-1) || 'file');
  if (IMAGE_TYPE.test(type))
    attach({ url: `data:${type};base64,${data.toString('base64')}`, contentType: type });
  const isSent = file({ name, data, type });
  return { file: name, type, bytes: data.length, status: isSent ? 'sent to the thread' : 'not sent' };
}

function typeOf(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function nameIn(headers: Headers): string | undefined {
  const [, name] = /filename="?([^";]+)"?/i.exec(headers.get('content-disposition') ?? '') ?? [];
  return name;
}
