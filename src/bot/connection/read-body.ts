import type { IncomingMessage } from 'node:http';

/** More than this nobody sends for a reason. */
const LONGEST_BODY = 1_000_000;

/** The bytes of a request, or `too-long`; a sender who goes away in the middle is an error. */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too-long'> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop would close the connection, and the sender would never read the refusal.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > LONGEST_BODY) return 'too-long';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
