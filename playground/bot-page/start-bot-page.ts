import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as requestFrom, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface BotPageOptions {
  /** The port that browsers reach, on this machine only. */
  readonly port: number;
  /** The port of the bot. */
  readonly botPort: number;
  /** The folder of the playground's built page, which has the software key. */
  readonly files: string;
  /** Builds the bot's page unless it is built; called before the bot is asked for it. */
  readonly build: () => Promise<unknown>;
}

export interface BotPage {
  stop(): Promise<void>;
}

const SCRIPT = '/playground/software-key.js';

/**
 * Stands before the bot at its public address, as a reverse proxy does, and adds one script to its page: the software key for browsers
 * without passkeys. The bot itself neither has nor knows it, so nothing that it does in production can offer it.
 */
export async function startBotPage({ port, botPort, files, build }: BotPageOptions): Promise<BotPage> {
  let built: Promise<unknown> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === SCRIPT) {
      response.setHeader('content-type', 'text/javascript; charset=utf-8');
      response.setHeader('cache-control', 'no-store');
      response.end(await readFile(join(files, 'software-key.js')));
      return;
    }
    if (pathname.startsWith('/page/')) {
      built ??= build();
      await built;
    }
    await pass(request, response, botPort);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain' }).end('The bot is not running.\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Passes a request on to the bot as it is, and the answer back. */
async function pass(request: IncomingMessage, response: ServerResponse, botPort: number): Promise<void> {
  const { method, url, headers } = request;
  // Nothing that is compressed could be added to.
  const { 'accept-encoding': _, ...passed } = headers;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = requestFrom(
      { host: '127.0.0.1', port: botPort, method, path: url, headers: passed },
      resolve,
    );
    asked.on('error', reject);
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  });
  const { 'content-length': length, ...kept } = answer.headers;
  const isShell = (kept['content-type'] ?? '').startsWith('text/html') && method === 'GET';
  if (isShell) {
    response.writeHead(answer.statusCode ?? 502, kept).end(withScript(await text(answer)));
    return;
  }
  response.writeHead(answer.statusCode ?? 502, {
    ...kept,
    ...(length !== undefined && { 'content-length': length }),
  });
  answer.pipe(response);
}

function withScript(html: string): string {
  return html.replace('</head>', `<script type="module" src="${SCRIPT}"></script></head>`);
}
