import type { IncomingMessage } from 'node:http';
import { Refused } from './refused.ts';

const LIMIT = 1_000_000;

/** The JSON of a request's body, up to a megabyte. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  // What is too much is still read to its end, since many clients see no answer before they have sent everything.
  for await (const part of request) {
    size += part.length;
    if (size <= LIMIT) parts.push(part);
  }
  if (size > LIMIT) throw new Refused(413, 'This is too large; at most one megabyte can be sent at once.');
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new Refused(400, 'What was sent is not JSON.');
  }
}
