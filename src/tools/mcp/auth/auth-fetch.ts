import type { Fetch } from '../mcp-config.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1024 * 1024;

/** Creates the fetch for metadata and tokens: it sends none of the server's headers, and limits time and size. */
export function authFetch(guardedFetch: Fetch): Fetch {
  return async (url, init = {}) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await guardedFetch(url, { ...init, signal });
    const { status, statusText, headers } = response;
    const body = await readLimited(response);
    return new Response(body, { status, statusText, headers });
  };
}

async function readLimited(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`an answer is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
