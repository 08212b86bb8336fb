import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { withTimeout } from '../agent/util/abort.ts';
import { Connections } from './connections.ts';
import { refusal } from './http-answer.ts';
import type { HttpPart } from './http-part.ts';
import { createRouter, toResponse } from './router.ts';

export interface HttpServerOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly parts: readonly HttpPart[];
  readonly logger: Logger;
  /** The time that a stop waits for running requests. */
  readonly stopMs?: number;
  /** The time in which a client has to send its whole request. */
  readonly requestMs?: number;
}

export interface HttpServer {
  /** Resolves to the port it listens on. */
  start(): Promise<number>;
  /** Accepts nothing new, waits for running requests, and closes those that take too long. */
  stop(): Promise<void>;
}

const STOP_MS = 10_000;
const REQUEST_MS = 10_000;

/** Creates the HTTP server of the bot. */
export function createHttpServer({
  port,
  parts,
  logger,
  stopMs = STOP_MS,
  requestMs = REQUEST_MS,
}: HttpServerOptions): HttpServer {
  const running = new Set<ServerResponse>();
  const connections = new Connections();
  const router = createRouter(parts, logger);
  const listener = getRequestListener(
    (request, { incoming, outgoing }) => {
      if (!(incoming instanceof IncomingMessage && outgoing instanceof ServerResponse))
        throw new Error('This server speaks HTTP/1.1 only');
      return router(request, { incoming, outgoing });
    },
    { overrideGlobalObjects: false, errorHandler: () => toResponse(MALFORMED) },
  );
  const timeouts = {
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(requestMs / 10),
    keepAliveTimeout: 5_000,
  };
  const server = createServer(timeouts, (request, response) => {
    running.add(response);
    response.once('close', () => running.delete(response));
    connections.serve(request, response);
    void listener(request, response);
  });
  server.on('connection', (socket) => connections.add(socket));
  server.on('clientError', refuseMalformed);

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
      if ((await withTimeout(closed, stopMs)) === undefined) server.closeAllConnections();
      await closed;
    },
  };
}

const MALFORMED = refusal(400, 'The request is malformed.');
const LATE = refusal(408, 'The request did not arrive in time.');

/** Answers what is no HTTP, and a request that did not arrive in time. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? LATE : MALFORMED;
  // A client that keeps its half of the connection open must not keep ours.
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

/** Says what to do about a port that another program has. */
function withAdvice(error: Error, port: number): Error {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return error;
  return new Error(`port ${port} is in use; stop what uses it, or set PORT to another`, { cause: error });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The HTTP server has no port.');
  return address.port;
}
