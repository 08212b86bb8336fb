import type { ServerResponse } from 'node:http';

/** What is sent back to an HTTP request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer of one line of JSON. */
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

/** A refusal that says in one sentence what was wrong. */
export function refusal(
  status: number,
  error: string,
  headers?: Readonly<Record<string, string>>,
): HttpAnswer {
  return jsonAnswer(status, { ok: false, error }, headers);
}

/** Sends an answer, unless there is one already or nobody to send it to. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
