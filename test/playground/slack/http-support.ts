import { createServer, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';

export interface HeardRequest {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server for an app that records requests and answers as configured; an empty 200 by default. */
export async function bareServer() {
  const heard: HeardRequest[] = [];
  const app = {
    heard,
    url: '',
    answer: (
      _request: HeardRequest,
    ): { status: number; body?: string; headers?: Record<string, string> } | 'never' => ({
      status: 200,
    }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const each = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      heard.push(each);
      const answer = app.answer(each);
      if (answer === 'never') return;
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body ?? '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  app.url = `http://127.0.0.1:${portOf(server)}/slack/events`;
  return app;
}

/** The port a server listens on. */
export function portOf(server: { address: () => unknown }): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null && 'port' in address) return Number(address.port);
  throw new Error('The server does not listen.');
}
