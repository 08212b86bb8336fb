import { HttpError } from '../../errors.ts';

/** A request whose body can be sent again. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAFE_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type'];

/** Parses the URL of a request; only http and https without credentials are allowed. */
export function parseTarget(url: string | URL, base?: URL): URL {
  if (!URL.canParse(String(url), base?.href)) {
    throw new HttpError('invalid-request', 'The URL cannot be read; write it as https://host/path.');
  }
  const parsed = new URL(url, base);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new HttpError('invalid-request', `Only http and https can be called, not "${parsed.protocol}".`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new HttpError(
      'invalid-request',
      `The URL for "${parsed.host}" carries a user name or password; send credentials in a header instead.`,
    );
  }
  return parsed;
}

/**
 * Returns the request that a redirect asks for, or `undefined` when the response is final. Methods change as in fetch. Another
 * origin gets no credentials and none of our headers, and a writing request is never passed on to it.
 */
export function nextRequest(
  request: OutgoingRequest,
  status: number,
  location: string | null,
): OutgoingRequest | undefined {
  if (!REDIRECTS.has(status) || location === null) return undefined;
  const url = parseTarget(location, request.url);
  const { method } = request;
  const isReading = method === 'GET' || method === 'HEAD';
  const becomesGet = status === 303 ? !isReading : status < 303 && method === 'POST';
  const isSameOrigin = url.origin === request.url.origin;
  if (!isSameOrigin && !isReading && !becomesGet) {
    throw new HttpError(
      'bad-redirect',
      `${request.url.origin} redirects the ${method} to ${url.origin}, which isn't the tool's address; if that's intended, use ${url.origin} in the tool's url.`,
      { status },
    );
  }
  const headers = new Headers(request.headers);
  if (becomesGet) for (const name of BODY_HEADERS) headers.delete(name);
  return {
    method: becomesGet ? 'GET' : method,
    url,
    headers: isSameOrigin ? headers : safeHeaders(headers),
    body: becomesGet ? undefined : request.body,
  };
}

function safeHeaders(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => SAFE_HEADERS.includes(name)));
}
