import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSafeServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { httpFetch } from '../../src/agent/http-fetch.ts';

const tls = new URL('../store/fixtures/tls/', import.meta.url);
const { fetch, bodyOf } = httpFetch();

async function listen(server: Server, protocol = 'http'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${protocol}://localhost:${(server.address() as AddressInfo).port}/v1/say?tone=low`;
}

test('what is sent arrives whole, and one connection serves many calls', async () => {
  const sockets = new Set<Socket>();
  const url = await listen(
    createServer(async (request, response) => {
      sockets.add(request.socket);
      const { method, url: path, headers } = request;
      response.end(JSON.stringify([method, path, headers['x-mark'], await text(request)]));
    }),
  );
  for (const said of ['Grüße', 'again']) {
    const response = await fetch(url, { method: 'POST', headers: { 'x-mark': '7' }, body: said });
    expect(response.status).toBe(200);
    expect(JSON.parse(await text(bodyOf(response)))).toEqual(['POST', '/v1/say?tone=low', '7', said]);
  }
  expect(sockets.size).toBe(1);
});

test('a refusal is an answer with its words and its headers', async () => {
  const url = await listen(
    createServer((_, response) => response.writeHead(429, { 'retry-after': '3' }).end('too many')),
  );
  const response = await fetch(url);
  expect([response.ok, response.status, response.headers.get('retry-after')]).toEqual([false, 429, '3']);
  expect(await response.text()).toBe('too many');
});

test('a redirect is not followed to wherever it leads', async () => {
  const url = await listen(
    createServer((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
  );
  expect((await fetch(url)).status).toBe(302);
});

test('whoever gives up before the answer, or within it, waits no longer', async () => {
  const halves: RequestListener = (request, response) => {
    if (request.method === 'POST') response.write('half');
  };
  const url = await listen(createServer(halves));
  const early = new AbortController();
  const waiting = fetch(url, { signal: early.signal });
  early.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  const late = new AbortController();
  const body = bodyOf(await fetch(url, { method: 'POST', signal: late.signal }));
  const reading = text(body);
  late.abort();
  await expect(reading).rejects.toThrow(/abort/i);
});

test('over TLS a server is spoken to that somebody vouches for, and no other', async () => {
  const server = createSafeServer(
    { cert: readFileSync(new URL('certificate.pem', tls)), key: readFileSync(new URL('key.pem', tls)) },
    (_, response) => response.end('in private'),
  );
  const url = await listen(server, 'https');
  await expect(fetch(url)).rejects.toThrow(/certificate|verify/i);
  const script = fileURLToPath(new URL('https-process.ts', import.meta.url));
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('certificate.pem', tls)) };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, url], { env });
  expect(stdout).toBe('in private');
});
