import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

export interface SlackCall {
  readonly method: string;
  readonly authorization: string | undefined;
  readonly arguments: Readonly<Record<string, string>>;
}

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown };

/** A server that speaks as much of Slack's API as the app manifests need: forms in, JSON out. */
export async function startManifestApi(answers: Readonly<Record<string, Answer>>) {
  const calls: SlackCall[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const method = (request.url ?? '').replace('/api/', '');
      const form = new URLSearchParams(Buffer.concat(parts).toString());
      calls.push({
        method,
        authorization: request.headers.authorization,
        arguments: Object.fromEntries(form),
      });
      const {
        status = 200,
        headers = {},
        body,
      } = answers[method] ?? {
        body: { ok: false, error: 'unknown_method' },
      };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, url: `http://127.0.0.1:${address.port}/api/` };
}
