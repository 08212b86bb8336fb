import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { withTimeout } from '../agent/util/abort.ts';
import { type HttpAnswer, jsonAnswer, refusal } from './http-answer.ts';
import {
  BodyTooLong,
  type HttpMethod,
  type HttpPart,
  type HttpRoute,
  type HttpRoutes,
  type Unrouted,
} from './http-part.ts';

/** The messages of Node behind a request. */
export interface NodeMessages {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

interface Env {
  Bindings: NodeMessages;
}

export type Router = (request: Request, messages: NodeMessages) => Promise<Response>;

/** The longest accepted body, in bytes. */
const MAX_BODY = 1_000_000;
const ANSWER_MS = 15_000;
const RETRY_S = '10';
/** Headers of every answer that does not say otherwise. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * Routes requests to the parts of the bot. Limits of size and time, default headers, errors, and what a path may look like are here, and
 * the same for all parts.
 */
export function createRouter(parts: readonly HttpPart[], logger: Logger): Router {
  const app = newApp();
  for (const part of parts) {
    const answer = partRouter(part, logger);
    for (const path of part.paths) app.all(path, (context) => answer(context.req.raw, context.env));
  }
  app.notFound(() => toResponse(NOT_FOUND));
  return async (request, messages) => {
    if (!isNormal(messages.incoming.url ?? '/'))
      return toResponse(refusal(400, 'The path is not in its normal form.'));
    return await app.fetch(request, messages);
  };
}

const NOT_FOUND = refusal(404, 'Not found.');

/** Paths are compared as they are sent, so that no other spelling of one gets past a proxy. */
function newApp(): Hono<Env> {
  return new Hono<Env>({ getPath: ({ url }) => new URL(url).pathname });
}

/** Opens the part with its first request. A part that could not be opened is tried again. */
function partRouter(part: HttpPart, logger: Logger): Router {
  let opened: Promise<Hono<Env>> | undefined;
  const open = () => {
    opened ??= part.open()?.then((routes) => appOf(part, routes, logger));
    return opened;
  };
  return async (request, messages) => {
    try {
      const app = await open();
      return app === undefined ? toResponse(NOT_FOUND) : await app.fetch(request, messages);
    } catch (err) {
      opened = undefined;
      return failed(err, logger);
    }
  };
}

function appOf(
  { answerMs = ANSWER_MS }: HttpPart,
  { routes, refuse, headers }: HttpRoutes,
  logger: Logger,
): Hono<Env> {
  const app = newApp();
  const refusedAs = (unrouted: Unrouted): Response =>
    toResponse(refuse?.(unrouted) ?? refusal(unrouted.status, unrouted.error, unrouted.headers), headers);
  for (const route of routes)
    app.on(route.method, route.path, async (context) => {
      const { incoming, outgoing } = context.env;
      if (incoming.method === 'HEAD' && route.takesHead !== true)
        return refusedAs(wrongMethod([route.method]));
      try {
        const answered = Promise.resolve(route.answer(requestOf(context)));
        const given = await withTimeout(answered, answerMs);
        return given === undefined ? refusedAs(LATE) : toResponse(given, headers);
      } catch (err) {
        if (err instanceof BodyTooLong) return refusedAs(TOO_LONG);
        // Nobody is left to read an answer.
        if (incoming.destroyed && !incoming.complete) return new Response();
        return failed(err, logger);
      } finally {
        // A connection on which half a request is left cannot be used again.
        if (!incoming.complete) outgoing.shouldKeepAlive = false;
      }
    });
  app.notFound(({ req }) => {
    const allowed = METHODS.filter((method) => app.router.match(method, req.path)[0].length > 0);
    return refusedAs(allowed.length > 0 ? wrongMethod(allowed) : MISSING);
  });
  return app;
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'DELETE'];
const MISSING: Unrouted = { status: 404, error: 'Not found.', headers: {} };
// The rest of the body is not read, so the connection cannot be reused.
const TOO_LONG: Unrouted = {
  status: 413,
  error: 'The body is longer than 1 MB.',
  headers: { connection: 'close' },
};
const LATE: Unrouted = { status: 503, error: 'Timed out; try again.', headers: { 'retry-after': RETRY_S } };

function wrongMethod(methods: readonly string[]): Unrouted {
  const allow = methods.join(', ');
  return { status: 405, error: `Use ${allow}.`, headers: { allow } };
}

function failed(err: unknown, logger: Logger): Response {
  const reference = randomUUID();
  logger.error({ err, reference }, 'request failed');
  return toResponse(jsonAnswer(500, { ok: false, error: 'Internal error.', reference }));
}

function requestOf(context: Context<Env>): Parameters<HttpRoute['answer']>[0] {
  const { incoming } = context.env;
  return {
    method: incoming.method ?? 'GET',
    url: new URL(context.req.url),
    params: context.req.param(),
    headers: incoming.headers,
    body: () => readBody(incoming),
    signal: context.req.raw.signal,
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop would close the connection, and the client would never read the refusal.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > MAX_BODY) throw new BodyTooLong('The body is longer than the limit');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Tells whether a path has one spelling only: no dots, empty parts or backslashes that another server would read in its own way. */
function isNormal(target: string): boolean {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return (path === '' || new URL(path, 'http://localhost').pathname === path) && !path.includes('//');
}

/** Builds the response, with the default headers where the part says nothing else. */
export function toResponse(
  given: HttpAnswer | Response,
  more: Readonly<Record<string, string>> = {},
): Response {
  const defaults = { ...HEADERS, ...more };
  if (given instanceof Response) {
    for (const [name, value] of Object.entries(defaults))
      if (!given.headers.has(name)) given.headers.set(name, value);
    return given;
  }
  const { status, headers, body } = given;
  return new Response(body === '' ? null : body, { status, headers: { ...defaults, ...headers } });
}
