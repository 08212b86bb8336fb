import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The answer to an HTTP request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Builds an answer of one line of JSON. */
export function jsonAnswer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** Builds a refusal with its reason in one sentence. */
export function refusal(
  status: number,
  error: string,
  headers?: Readonly<Record<string, string>>,
): HttpAnswer {
  return jsonAnswer(status, { ok: false, error }, headers);
}

/** Sends an answer, unless one was sent already or the client is gone. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Sends a response of the web's kind, whose body may be a stream; a client that leaves ends the stream. */
export async function sendResponse(
  response: ServerResponse,
  { status, headers, body }: Response,
): Promise<void> {
  if (response.headersSent || response.destroyed) {
    await body?.cancel();
    return;
  }
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  else await pipeline(Readable.fromWeb(body), response).catch(() => {});
}

/** The longest accepted body, in bytes. */
const MAX_BODY = 1_000_000;

/** Reads the body of a request, or returns `too-long`; throws if the client disconnects before its end. */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too-long'> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop would close the connection, and the client would never read the refusal.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > MAX_BODY) return 'too-long';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
