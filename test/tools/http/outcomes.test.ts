import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import { type HttpToolDefinition, httpTool } from '../../../src/tools/http/http-tool.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { type RecordingServer, startRecordingServer } from './recording-server.ts';
import { runTool } from './run-tool.ts';

type Method = HttpToolDefinition['method'];

let server: RecordingServer;
beforeAll(async () => {
  server = await startRecordingServer((response, { path }) => {
    const [, kind = '', value = ''] = path.split('/');
    if (kind === 'status') response.writeHead(Number(value)).end('the server says so');
    if (kind === 'moved') response.writeHead(302, { location: '/moved' }).end();
    if (kind === 'seen') response.writeHead(303, { location: 'http://gone.example:1/' }).end();
    if (kind === 'other') response.writeHead(303, { location: `/status/${value}` }).end();
    if (kind === 'inside') response.writeHead(302, { location: 'http://127.0.0.9/' }).end();
    if (kind === 'strange') response.writeHead(303, { location: 'ftp://pay.example/' }).end();
    if (kind === 'nowhere') response.writeHead(302).end();
    if (kind === 'text') response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
    if (kind === 'large') response.writeHead(200).end('x'.repeat(200));
    if (kind === 'cut')
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    // Any other path is never answered.
  });
});
afterAll(() => server.stop());

async function failureOf(
  method: Method,
  path: string,
  change: Partial<HttpToolDefinition> = {},
): Promise<unknown> {
  const tool = httpTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: {} },
    method,
    url: `http://pay.example:${server.port}${path}`,
    allowPrivate: ['pay.example'],
    lookup: async (host) => (host === 'pay.example' ? ['127.0.0.1'] : []),
    timeoutMs: 20_000,
    ...change,
  });
  return runTool(tool, {}).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

const EVERY_STATUS = Array.from({ length: 200 }, (_, index) => 400 + index);
/** One method gets every status; the others those at the edges, since they share the code. */
const statusesFor = (method: Method) =>
  method === 'POST' ? EVERY_STATUS : [400, 404, 407, 408, 409, 425, 429, 499, 500, 503, 599];
// Fetch gives no answer for a 407, so nothing is known of it either.
const isAmbiguous = (status: number) => status === 407 || status === 408 || status === 499 || status >= 500;

describe.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('a %s', (method) => {
  test('has failed after a 4xx, and after a 408, a 499 or a 5xx its outcome is unknown', async () => {
    const unknown: number[] = [];
    const statuses = statusesFor(method);
    for (const status of nonEmpty(statuses)) {
      const error = await failureOf(method, `/status/${status}`);
      if (status !== 407) expect(error).toMatchObject({ code: 'bad-answer', status });
      if (!isNotDone(error)) unknown.push(status);
    }
    expect(unknown).toEqual(statuses.filter(isAmbiguous));
  });

  test.each([
    ['a time-out after it was sent', '/never', { timeoutMs: 200 }],
    ['a connection that breaks in the middle of the answer', '/cut', {}],
    ['redirects without end', '/moved', {}],
    ['a redirect to a host that does not exist', '/seen', {}],
    ['a redirect to a page that it may not read', '/other/403', {}],
    ['a redirect to a page that is not there', '/other/404', {}],
    ['a redirect to a private address', '/inside', {}],
    ['a redirect to something that is no web page', '/strange', {}],
    ['a redirect without an address', '/nowhere', {}],
    ['a 200 whose body is not the JSON that it says', '/text', {}],
    ['a 200 without what the manifest selects', '/text', { select: 'id' }],
    ['a 200 that is too large', '/large', { maxBytes: 100 }],
  ] as const)('has an unknown outcome after %s', async (_, path, change) => {
    expect(isNotDone(await failureOf(method, path, change))).toBe(false);
  });

  test('has an unknown outcome if the server closes the connection without an answer', async () => {
    await withTcpServer(
      (socket) => socket.once('data', () => socket.destroy()),
      async (port) => {
        const error = await failureOf(method, '/', { url: `http://pay.example:${port}/` });
        expect(error).toMatchObject({ code: 'broken-off' });
        expect(isNotDone(error)).toBe(false);
      },
    );
  });

  test.each([
    ['a refused connection', { url: 'http://pay.example:1/' }],
    ['a host name that does not resolve', { url: 'http://gone.example:1/', allowPrivate: ['gone.example'] }],
    ['a blocked address', { allowPrivate: [] }],
  ] as const)('has failed after %s: nothing was sent', async (_, change) => {
    const error = await failureOf(method, '/status/200', change);
    expect(error).toBeInstanceOf(Error);
    expect(isNotDone(error)).toBe(true);
  });
});

async function withTcpServer(
  onConnection: (socket: Socket) => void,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const tcp: Server = createServer(onConnection);
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  try {
    const address = tcp.address();
    await use(typeof address === 'object' && address !== null ? address.port : 0);
  } finally {
    tcp.close();
  }
}
