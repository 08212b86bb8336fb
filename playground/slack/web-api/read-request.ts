import type { IncomingMessage } from 'node:http';
import { isObject } from '../state/normalize-blocks.ts';
import type { JsonObject } from '../state/types.ts';
import { Refusal } from './refusal.ts';

/** The arguments of a call, from the query, a form or a JSON body. */
export async function readArguments(request: IncomingMessage, url: URL): Promise<JsonObject> {
  const body = await readBody(request);
  const query = Object.fromEntries(url.searchParams);
  if (request.method === 'GET' || body === '') return query;
  const type = request.headers['content-type']?.split(';')[0]?.trim();
  switch (type) {
    case 'application/x-www-form-urlencoded':
      return { ...query, ...Object.fromEntries(new URLSearchParams(body)) };
    case 'application/json':
      return { ...query, ...parseObject(body) };
    case undefined:
      throw new Refusal('missing_post_type');
    default:
      throw new Refusal('invalid_post_type');
  }
}

/** The bearer token of a call, or the older token argument. */
export function readToken(request: IncomingMessage, given: JsonObject): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return bearer ?? (typeof given.token === 'string' ? given.token : undefined);
}

/** The whole body as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** A JSON object, or the refusal Slack has for anything else. */
export function parseObject(body: string): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new Refusal('invalid_json');
  }
  if (!isObject(parsed)) throw new Refusal('json_not_object');
  return parsed;
}
