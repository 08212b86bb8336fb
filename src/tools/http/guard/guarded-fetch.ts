import { fetch, type Response as UndiciResponse } from 'undici';
import { AgentError, outcomeUnknown } from '../../../agent/errors.ts';
import { HttpError } from '../../errors.ts';
import { openDispatcher, type ProxySettings } from '../proxy.ts';
import { AllowedHosts } from './allowed-hosts.ts';
import { CallLimits, limitedBody } from './call-limits.ts';
import { guardedConnector, type Lookup, targetOf } from './guarded-connector.ts';
import { nextRequest, type OutgoingRequest, parseTarget } from './redirects.ts';

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
export type GuardedFetch = (
  url: string | URL,
  init?: Pick<RequestInit, 'method' | 'headers' | 'body' | 'signal' | 'redirect'>,
) => Promise<Response>;

type Init = NonNullable<Parameters<GuardedFetch>[1]>;

const MAX_REDIRECTS = 5;
const READING_METHODS = new Set(['GET', 'HEAD']);
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
    const isWrite = !READING_METHODS.has(request.method);
    let redirects = 0;
    try {
      for (; ; redirects += 1) {
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
        const next =
          init.redirect === 'manual'
            ? undefined
            : nextRequest(request, answer.status, answer.headers.get('location'));
        if (next === undefined) {
          const { origin } = request.url;
          return toResponse(answer, {
            maxBytes,
            origin,
            explain: (error) => limits.explain(brokenOff(error, origin), origin),
            release: () => limits.release(),
          });
        }
        await answer.body?.cancel();
        checkRedirect(request, answer.status, redirects, init);
        request = next;
      }
    } catch (error) {
      const reason = explain(error);
      limits.cancel();
      // A server that redirects a write may have carried it out first.
      if (isWrite && redirects > 0 && reason instanceof Error) outcomeUnknown(reason);
      throw reason;
    }
  };
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
