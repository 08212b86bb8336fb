import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ActionResult } from '../../protocol.ts';
import { sendJson } from '../../send-json.ts';

/** A refused request: the HTTP status and one sentence for the person. */
export class HttpError extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Ends a response with the JSON of an answer; nobody keeps a copy of it. */
export function sendAnswer(response: ServerResponse, status: number, answer: ActionResult): void {
  sendJson(response, status, { ...answer }, { 'cache-control': 'no-store' });
}

/** Files come in the body, as base64. */
const LIMIT = 16_000_000;

/** The JSON of a request's body, up to 16 megabytes. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  // An oversized body is still read to its end, because many clients read no answer before they have sent everything.
  for await (const part of request) {
    size += part.length;
    if (size <= LIMIT) parts.push(part);
  }
  if (size > LIMIT) throw new HttpError(413, 'The request is larger than 16 megabytes.');
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new HttpError(400, 'The request body is not valid JSON.');
  }
}

const NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests of other sites, which can make a browser call this machine: the host and origin must be ours, and a
 * POST must be JSON, which a form cannot send.
 */
export function guardRequest({ method, headers }: IncomingMessage, port: number): void {
  const hosts = NAMES.map((name) => new URL(`http://${name}:${port}`).host);
  if (!hosts.includes(headers.host?.toLowerCase() ?? '')) {
    throw new HttpError(403, `This server only answers requests to http://${hosts[0]} on this machine.`);
  }
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new HttpError(403, `Requests from ${origin} are not allowed. Open http://${hosts[0]} directly.`);
  }
  if (method === 'POST' && headers['content-type']?.split(';')[0]?.trim() !== 'application/json') {
    throw new HttpError(415, 'Send JSON with the content type application/json.');
  }
}
