import { HttpError } from '../../errors.ts';

/** One request on its way, with a body that can be sent again. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS_FOR_ANYBODY = ['accept', 'accept-language', 'content-type', 'user-agent'];
const HEADERS_OF_THE_BODY = ['content-encoding', 'content-language', 'content-location', 'content-type'];

/** The URL of a request, refused unless it is http or https and carries no credentials. */
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
 * What an answer asks to be requested next, or `undefined` when it is final. Methods change as in fetch; another origin
 * gets no credentials and no header of ours, and never what was written to the first one.
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
      `${request.url.origin} passes the ${method} on to ${url.origin}, which nobody named; write that address into the tool if it is right.`,
      { status },
    );
  }
  const headers = new Headers(request.headers);
  if (becomesGet) for (const name of HEADERS_OF_THE_BODY) headers.delete(name);
  return {
    method: becomesGet ? 'GET' : method,
    url,
    headers: isSameOrigin ? headers : headersForAnybody(headers),
    body: becomesGet ? undefined : request.body,
  };
}

function headersForAnybody(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => HEADERS_FOR_ANYBODY.includes(name)));
}
