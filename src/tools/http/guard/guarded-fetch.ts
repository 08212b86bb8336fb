import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { fetch, type Response as UndiciResponse } from 'undici';
import { AgentError, notDone } from '../../../agent/errors.ts';
import { BlockedAddressError, HttpError } from '../../errors.ts';
import { openDispatcher, type ProxySettings } from '../proxy.ts';
import { AllowedHosts } from './allowed-hosts.ts';
import { guardedConnector, type Lookup, targetOf } from './guarded-connector.ts';

export interface GuardedFetchOptions {
  /** Hosts that may be private, by exact name or address, with `:port` for one port only. */
  readonly allowPrivate: readonly string[];
  readonly lookup?: Lookup;
  /** The time limit for the whole call, up to the last byte of the body; without it a body may stream without end. */
  readonly timeoutMs?: number;
  /** The size limit of the decompressed body. */
  readonly maxBytes?: number;
  /** A proxy resolves names itself, so of a host behind one only the name is checked. */
  readonly proxy?: ProxySettings | undefined;
}

/** A part of `fetch`. A body is a text, bytes or form fields, so that a redirect can send it again. */
type GuardedFetch = (
  url: string | URL,
  init?: Pick<RequestInit, 'method' | 'headers' | 'body' | 'signal' | 'redirect'>,
) => Promise<Response>;

type Init = NonNullable<Parameters<GuardedFetch>[1]>;

const MAX_REDIRECTS = 5;
const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/** Creates a fetch that reaches only public addresses and the named hosts, also after a redirect. */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { allowPrivate, lookup, timeoutMs, maxBytes, proxy } = options;
  const hosts = new AllowedHosts(allowPrivate);
  const connect = guardedConnector({ hosts, lookup });
  // Each call has its own limits; the agent's would end streams that may be idle.
  const dispatcher = openDispatcher(proxy, { connect, headersTimeout: 0, bodyTimeout: 0 });

  return async (url, init = {}) => {
    let request = firstRequest(url, init);
    const limits = new CallLimits(init.signal ?? undefined, timeoutMs);
    const explain = (error: unknown) => limits.explain(rootCause(error, request), request.url.origin);
    let isAnswered = false;
    try {
      for (let redirects = 0; ; redirects += 1) {
        const { url: hop, method, headers, body = null } = request;
        hosts.checkName(targetOf(hop));
        const answer = await fetch(hop, {
          method,
          headers: [...headers],
          body,
          redirect: 'manual',
          signal: limits.signal,
          dispatcher,
        });
        isAnswered = true;
        const next =
          init.redirect === 'manual'
            ? undefined
            : nextRequest(request, answer.status, answer.headers.get('location'));
        if (next === undefined) {
          const { origin } = request.url;
          const response = toResponse(answer, {
            maxBytes,
            origin,
            explain: (error) => limits.explain(brokenOff(error, origin), origin),
            release: () => limits.release(),
          });
          return redirects === 0 ? response : Object.defineProperty(response, 'redirected', { value: true });
        }
        await answer.body?.cancel();
        checkRedirect(request, answer.status, redirects, init);
        request = next;
      }
    } catch (error) {
      const reason = explain(error);
      limits.cancel();
      // A server that redirects a write may have carried it out first.
      throw !isAnswered && isUnsent(reason) ? notDone(reason) : reason;
    }
  };
}

/** Recognizes the failures of a request that was never sent. */
function isUnsent(reason: unknown): reason is Error {
  if (reason instanceof BlockedAddressError) return true;
  return reason instanceof HttpError && (reason.code === 'invalid-request' || reason.code === 'unreachable');
}

function checkRedirect({ url }: OutgoingRequest, status: number, before: number, init: Init): void {
  if (init.redirect === 'error') {
    throw new HttpError('bad-redirect', `${url.origin} redirects, which this call does not follow.`, {
      status,
    });
  }
  if (before === MAX_REDIRECTS) {
    throw new HttpError('bad-redirect', `${url.origin} redirects more than ${MAX_REDIRECTS} times.`, {
      status,
    });
  }
}

function firstRequest(url: string | URL, { method = 'GET', headers, body }: Init): OutgoingRequest {
  const request = { method: method.toUpperCase(), url: parseTarget(url), headers: parseHeaders(headers) };
  if (body === undefined || body === null) return { ...request, body: undefined };
  if (typeof body === 'string') return { ...request, body };
  if (body instanceof Uint8Array) return { ...request, body: new Uint8Array(body) };
  if (body instanceof URLSearchParams) {
    if (!request.headers.has('content-type')) {
      request.headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    }
    return { ...request, body: body.toString() };
  }
  throw new HttpError(
    'invalid-request',
    'A body must be a text, bytes or form fields; others cannot be sent again.',
  );
}

function parseHeaders(headers: Init['headers']): Headers {
  try {
    return new Headers(headers);
  } catch {
    // The reason would repeat the value, which may be a secret.
    throw new HttpError('invalid-request', 'A header cannot be sent: it must be one line of Latin-1.');
  }
}

function toResponse(answer: UndiciResponse, limits: Parameters<typeof limitedBody>[1]): Response {
  const { status, statusText } = answer;
  const headers = new Headers([...answer.headers]);
  if (answer.body === null || STATUSES_WITHOUT_BODY.has(status)) {
    limits.release();
    return new Response(null, { status, statusText, headers });
  }
  return new Response(limitedBody(answer.body, limits), { status, statusText, headers });
}

/** Returns the cause under fetch's own error. A network error is described by its code, since its message may hold addresses. */
function rootCause(error: unknown, { url }: OutgoingRequest): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AgentError) return cause;
    if (isProxyFailure(cause)) {
      const message = `The proxy did not connect to ${url.origin}; nothing was sent.`;
      return new HttpError('unreachable', message, { cause: error });
    }
    if ('code' in cause && typeof cause.code === 'string') {
      // The connector reports failed connections, so here the request was on its way.
      const message = `The connection to ${url.origin} failed before it responded (${cause.code}).`;
      return new HttpError('broken-off', message, { cause: error });
    }
  }
  // Fetch refuses a request by itself without a cause, and a port with one; any other failure came after the request had begun.
  const { cause } = error instanceof Error ? error : {};
  const isSent = cause instanceof Error && cause.message !== 'bad port';
  if (isSent)
    return new HttpError('broken-off', `The connection to ${url.origin} failed before it responded.`, {
      cause: error,
    });
  return new HttpError('invalid-request', `Fetch does not send this request to ${url.origin}.`, {
    cause: error,
  });
}

/** Recognizes a connection to a proxy, or through it, that was never made. */
function isProxyFailure(cause: Error): boolean {
  return ('syscall' in cause && cause.syscall === 'connect') || /HTTP Tunneling/.test(cause.message);
}

function brokenOff(error: unknown, origin: string): unknown {
  if (error instanceof AgentError) return error;
  return new HttpError('broken-off', `The connection to ${origin} failed mid-response.`, { cause: error });
}

/** Ends one call at its caller's signal or its time limit, whichever comes first; `release` frees both. */
class CallLimits {
  readonly #own = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #timeoutMs: number | undefined;
  #isTimedOut = false;

  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    if (caller?.aborted === true) this.#follow();
    caller?.addEventListener('abort', this.#follow, { once: true });
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#isTimedOut = true;
        this.#own.abort();
      }, timeoutMs);
    }
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Returns the actual reason why a call failed with `error`. */
  explain(error: unknown, origin: string): unknown {
    if (this.#caller?.aborted === true) return this.#caller.reason;
    if (this.#isTimedOut) {
      return new HttpError('timed-out', `${origin} timed out after ${this.#timeoutMs} ms.`);
    }
    return error;
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#follow);
  }

  /** Aborts the rest of a failed call. */
  cancel(): void {
    this.release();
    this.#own.abort();
  }

  readonly #follow = () => this.#own.abort(this.#caller?.reason);
}

interface BodyLimits {
  readonly maxBytes: number | undefined;
  readonly origin: string;
  readonly explain: (error: unknown) => unknown;
  /** Called once, after the last read. */
  readonly release: () => void;
}

/** Streams a body; one over the size limit ends in an error, never in a shorter body. */
function limitedBody(
  body: NodeReadableStream<Uint8Array>,
  { maxBytes = Number.POSITIVE_INFINITY, origin, explain, release }: BodyLimits,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          release();
          controller.close();
          return;
        }
        size += value.byteLength;
        if (size > maxBytes) {
          throw new HttpError('too-large', `${origin} answered with more than ${maxBytes} bytes.`);
        }
        controller.enqueue(value);
      } catch (error) {
        release();
        controller.error(explain(error));
        reader.cancel().catch(() => undefined);
      }
    },
    cancel(reason) {
      release();
      return reader.cancel(reason);
    },
  });
}

/** A request whose body can be sent again. */
interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAFE_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type'];

/** Parses the URL of a request; only http and https without credentials are allowed. */
function parseTarget(url: string | URL, base?: URL): URL {
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
function nextRequest(
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
