import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSafeServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type PostOptions, SilenceError, textPoster } from '../../src/agent/post-text.ts';

const tls = new URL('../store/redis/fixtures/tls/', import.meta.url);

async function post(url: string, body = '', options: Partial<PostOptions> = {}) {
  return textPoster(url, new Headers({ 'x-mark': '7' }))(body, { silenceMs: 10_000, ...options });
}

async function answerOf(url: string, body?: string, options?: Partial<PostOptions>) {
  const posted = await post(url, body, options);
  if (posted.outcome !== 'answered') throw new Error(`refused with ${posted.status}`);
  return posted.body;
}

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
    const answer = await text(await answerOf(url, said));
    expect(JSON.parse(answer)).toEqual(['POST', '/v1/say?tone=low', '7', said]);
  }
  expect(sockets.size).toBe(1);
});

test('a refusal is an answer with its words and its headers', async () => {
  const url = await listen(
    createServer((_, response) => response.writeHead(429, { 'retry-after': '3' }).end('too many')),
  );
  const refused = await post(url);
  expect(refused).toMatchObject({ outcome: 'refused', status: 429, words: 'too many' });
  expect(refused.outcome === 'refused' && refused.headers.get('retry-after')).toBe('3');
});

test('a redirect is not followed to wherever it leads', async () => {
  const url = await listen(
    createServer((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
  );
  expect(await post(url)).toMatchObject({ outcome: 'refused', status: 302 });
});

test('whoever gives up before the answer, or within it, waits no longer', async () => {
  const halves: RequestListener = (request, response) => {
    request.on('data', () => response.write('half'));
  };
  const url = await listen(createServer(halves));
  const early = new AbortController();
  const waiting = post(url, '', { signal: early.signal });
  early.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  await expect(post(url, '', { signal: early.signal })).rejects.toThrow(/abort/i);
  const late = new AbortController();
  const body = await answerOf(url, 'go', { signal: late.signal });
  const reading = text(body);
  late.abort();
  await expect(reading).rejects.toThrow(/abort/i);
});

test('whoever does not begin to answer, or to the end of a refusal, is waited for no longer than allowed', async () => {
  const mute = await listen(createServer(() => {}));
  await expect(post(mute, '', { silenceMs: 30 })).rejects.toThrow(SilenceError);
  const half = await listen(createServer((_, response) => response.writeHead(500).write('half')));
  await expect(post(half, '', { silenceMs: 30 })).rejects.toThrow();
});

test('a signal that outlives the call is not listened to any longer', async () => {
  const url = await listen(createServer((_, response) => response.end('done')));
  const { signal } = new AbortController();
  await text(await answerOf(url, '', { signal }));
  await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
});

test('over TLS a server is spoken to that somebody vouches for, and no other', async () => {
  const server = createSafeServer(
    { cert: readFileSync(new URL('certificate.pem', tls)), key: readFileSync(new URL('key.pem', tls)) },
    (_, response) => response.end('in private'),
  );
  const url = await listen(server, 'https');
  await expect(post(url)).rejects.toThrow(/certificate|verify/i);
  const script = fileURLToPath(new URL('https-process.ts', import.meta.url));
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('certificate.pem', tls)) };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, url], { env });
  expect(stdout).toBe('in private');
});
