import type { ServerResponse } from 'node:http';
import type { JsonObject } from './slack/state/types.ts';

/** Ends a response with a JSON body. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}
