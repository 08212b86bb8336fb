import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';

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
