import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Logger } from 'pino';
import { withTimeout } from '../../agent/util/running-work.ts';
import type { Connection } from './create-connection.ts';
import { type HttpAnswer, jsonAnswer, readBody, refusal, sendAnswer, sendResponse } from './http-answer.ts';

export interface BotServerOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Whether Slack can reach the bot. */
  readonly isConnected: () => boolean;
  /** Tries a write. Returns Redis's code if it refuses one; an error and a timeout mean that Redis does not answer. */
  readonly refusedWrite: () => Promise<string | undefined>;
  /** The number of tools that are missing, and of their other problems. */
  readonly toolProblems: () => number;
  /** Writes the metrics in Prometheus's text format. */
  readonly metrics: () => Promise<HttpAnswer>;
  /** The bearer token that a scrape must show, if there is one. */
  readonly metricsToken?: string | undefined;
  /** Receives the callback of an external system. */
  readonly receiveCallback: (token: string, body: string) => Promise<HttpAnswer>;
  /** Answers the browser of a person who connects an account; `undefined` for any other path. */
  readonly connect: (url: URL, cookies: string | undefined) => Promise<HttpAnswer | undefined>;
  /** Answers other agents and jobs under `/v1`; an answer may take as long as they ask for, up to a minute. */
  readonly door?: (request: WebRequest) => Promise<HttpAnswer>;
  /** Answers a browser at the page beside Slack; `undefined` for any other path, or if there is no page. */
  readonly page?: (request: WebRequest) => Promise<HttpAnswer | undefined>;
  /** Answers MCP clients at `/mcp`; an answer may be a stream of events. */
  readonly mcp?: (request: WebRequest) => Promise<Response>;
  /** Receives Slack's requests, in HTTP mode. */
  readonly receive: Connection['receive'];
  readonly logger: Logger;
  /** The time that a stop waits for running requests. */
  readonly stopMs?: number;
  /** The time in which a client has to send its whole request. */
  readonly requestMs?: number;
}

/** A request of a browser at the page, or of another agent or job at the door. */
export interface WebRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** The address of the other end; behind a proxy, the proxy's. */
  readonly address: string;
  readonly body: () => Promise<Buffer | 'too-long'>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export interface BotServer {
  /** Resolves to the port it listens on. */
  start(): Promise<number>;
  /** Accepts nothing new, waits for running requests, and closes those that take too long. */
  stop(): Promise<void>;
}

const ANSWER_MS = 15_000;
const DOOR_MS = 75_000;
const REDIS_MS = 2_000;
const STOP_MS = 10_000;
const REQUEST_MS = 10_000;
/** Slack and its retries, callbacks, probes and scrapes need a handful; a flood must not take all file descriptors. */
const MAX_CONNECTIONS = 1_000;

/** The start of the addresses of other agents and jobs. */
const DOOR = '/v1/';
const MCP = '/mcp';

/** Creates the HTTP server of the bot: health, readiness, metrics, callbacks, the door, the page and, in HTTP mode, Slack. */
export function createBotServer(options: BotServerOptions): BotServer {
  const { port, logger, stopMs = STOP_MS, requestMs = REQUEST_MS } = options;
  const running = new Set<ServerResponse>();
  const timeouts = {
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(requestMs / 10),
    keepAliveTimeout: 5_000,
  };
  const server = createServer(timeouts, (request, response) => {
    running.add(response);
    response.once('close', () => running.delete(response));
    void respond(options, request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const [status, problem] = isLate
      ? (['408 Request Timeout', 'The request did not arrive in time.'] as const)
      : (['400 Bad Request', 'The request is malformed.'] as const);
    const { body } = refusal(400, problem);
    // A client that keeps its half of the connection open must not keep ours.
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  });

  return {
    async start() {
      await new Promise<void>((resolve, reject) => {
        const refuse = (error: Error): void => reject(withAdvice(error, port));
        server.once('error', refuse);
        server.listen(port, () => {
          server.off('error', refuse);
          resolve();
        });
      });
      server.on('error', (err) => logger.error({ err }, 'HTTP server failed'));
      return portOf(server);
    },
    async stop() {
      if (!server.listening) return;
      const closed = new Promise<true>((resolve) => {
        server.close(() => resolve(true));
      });
      for (const response of running) response.shouldKeepAlive = false;
      if ((await withTimeout(stopMs, closed)) === undefined) server.closeAllConnections();
      await closed;
    },
  };
}

/** Says what to do about a port that another program has. */
function withAdvice(error: Error, port: number): Error {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return error;
  return new Error(`port ${port} is in use; stop what uses it, or set PORT to another`, { cause: error });
}

async function respond(
  options: BotServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { logger } = options;
  try {
    const late = refusal(503, 'Timed out; try again.', { 'retry-after': '10' });
    const { pathname } = urlOf(request);
    const limitMs = pathname.startsWith(DOOR) || pathname === MCP ? DOOR_MS : ANSWER_MS;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const given = (await withTimeout(limitMs, answer(options, request, gone.signal))) ?? late;
    // A connection on which half a request is left cannot be used again.
    if (!request.complete) response.shouldKeepAlive = false;
    if (given instanceof Response) await sendResponse(response, given);
    else sendAnswer(response, given);
  } catch (err) {
    if (request.destroyed && !request.complete) return;
    const reference = randomUUID();
    logger.error({ err, reference }, 'request failed');
    sendAnswer(response, jsonAnswer(500, { ok: false, error: 'Internal error.', reference }));
  }
}

async function answer(
  options: BotServerOptions,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<HttpAnswer | Response> {
  const { receiveCallback, receive, door, mcp } = options;
  const url = urlOf(request);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const token = /^\/callback\/([^/]+)$/.exec(url.pathname)?.[1];

  if (url.pathname === '/health') return isRead ? jsonAnswer(200, { ok: true }) : onlyBy('GET');
  if (url.pathname === '/ready') return isRead ? await readiness(options) : onlyBy('GET');
  if (url.pathname === '/metrics') {
    if (!isRead) return onlyBy('GET');
    return mayScrape(options, request) ? await options.metrics() : NO_TOKEN;
  }
  if (token !== undefined) {
    if (request.method !== 'POST') return onlyBy('POST');
    return await withBody(request, (body) => receiveCallback(token, body.toString('utf8')));
  }
  const { method = 'GET', headers } = request;
  const address = request.socket.remoteAddress ?? '';
  const asked = { method, url, headers, address, body: () => readBody(request), signal };
  if (url.pathname.startsWith(DOOR) && door !== undefined) return await door(asked);
  if (url.pathname === MCP && mcp !== undefined) return await mcp(asked);
  if (url.pathname.startsWith('/connect/')) {
    // A preview of the link by HEAD must not use it up.
    if (request.method !== 'GET') return onlyBy('GET');
    const connected = await options.connect(url, request.headers.cookie);
    if (connected !== undefined) return connected;
  }
  if (url.pathname === '/slack/events' && receive !== undefined) {
    // Slack may check the certificate by GET as well.
    if (isRead && url.searchParams.get('ssl_check') === '1') return { status: 200, body: '' };
    if (request.method !== 'POST') return onlyBy('POST');
    return await withBody(request, (body) => receive({ headers: request.headers, body }));
  }
  const shown = await options.page?.(asked);
  return shown ?? refusal(404, 'Not found.');
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return new URL(url, 'http://localhost');
}

const NO_TOKEN = refusal(401, 'Send the METRICS_TOKEN of this bot as a bearer token.', {
  'www-authenticate': 'Bearer',
});

/** Compares digests, which have one length, so that the time of the answer says nothing about the token. */
function mayScrape({ metricsToken }: BotServerOptions, { headers }: IncomingMessage): boolean {
  if (metricsToken === undefined) return true;
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${metricsToken}`));
}

/** A bot without some of its tools is ready, and says so. */
async function readiness(options: BotServerOptions): Promise<HttpAnswer> {
  const { isConnected, refusedWrite, toolProblems } = options;
  const tried = refusedWrite().then(
    (code) => ({ redis: true, writes: code ?? true }),
    () => undefined,
  );
  const { redis, writes } = (await withTimeout(REDIS_MS, tried)) ?? { redis: false, writes: false };
  const slack = isConnected();
  const ok = redis && slack && writes === true;
  const problems = toolProblems();
  return jsonAnswer(ok ? 200 : 503, {
    ...{ ok, slack, redis, writes },
    ...(problems > 0 && { tool_problems: problems }),
  });
}

async function withBody(
  request: IncomingMessage,
  take: (body: Buffer) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const body = await readBody(request);
  // The rest of the body is not read, so the connection cannot be reused.
  if (body === 'too-long') return refusal(413, 'The body is longer than 1 MB.', { connection: 'close' });
  return await take(body);
}

function onlyBy(method: string): HttpAnswer {
  return refusal(405, `Use ${method}.`, { allow: method });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The HTTP server has no port.');
  return address.port;
}
