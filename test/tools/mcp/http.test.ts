import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import type { HttpConfig, McpOptions } from '../../../src/tools/mcp/mcp-config.ts';
import { type HttpServer, serveHttp } from './fixtures/http-server.ts';
import { call, eventually, httpConfig, open } from './support.ts';

async function serve(port?: number): Promise<HttpServer> {
  const http = await serveHttp(port);
  onTestFinished(() => http.stop());
  return http;
}

function openHttp(url: string, changes: Partial<HttpConfig> = {}, options: Partial<McpOptions> = {}) {
  return open(httpConfig(url, { prefix: 'web_', ...changes }), { guardedFetch: fetch, ...options });
}

test('tools are listed and called, with the headers that were given', async () => {
  const http = await serve();
  const { server } = await openHttp(http.url, { headers: { authorization: 'Bearer abc' } });
  expect(await call(server, 'web_greet', { name: 'Ada' })).toBe('hello Ada');
  expect(server.describe()).toMatchObject({ transport: 'http', state: 'connected', peer: 'moody 1' });
  expect(http.headers.every(({ authorization }) => authorization === 'Bearer abc')).toBe(true);
});

test('progress and cancellation work as they do over stdio', async () => {
  const http = await serve();
  const { server } = await openHttp(http.url);
  const stop = new AbortController();
  const progress = () => stop.abort(new Error('stopped by Ada'));
  await expect(call(server, 'web_tick', {}, { signal: stop.signal, progress })).rejects.toThrow(
    'stopped by Ada',
  );
  await eventually(() => expect(http.notes).toContain('tick was cancelled'));
});

test('a changed definition reaches onChange', async () => {
  const { server, changes } = await openHttp((await serve()).url);
  await call(server, 'web_refine');
  await eventually(() => expect(changes).toHaveLength(2));
  expect(changes[1]?.[0]?.description).toBe('Greets loudly');
});

test('a server that went away and came back is found again, and calls in between are told so', async () => {
  const http = await serve(await findFreePort());
  const { server } = await openHttp(http.url, {}, { restartWaitMs: 10 });
  await http.stop();
  await eventually(() => expect(server.state).not.toBe('connected'));
  await expect(call(server, 'web_greet')).rejects.toMatchObject({ code: 'down' });
  await eventually(() =>
    expect(server.describe().lastError).toContain('cannot be reached: connect ECONNREFUSED'),
  );
  expect(server.describe().tools).toContain('web_greet');

  await serve(http.port);
  await eventually(() => expect(server.state).toBe('connected'));
  expect(await call(server, 'web_greet')).toBe('hello nobody');
});

test('a call that ran when the server went away has an open outcome', async () => {
  const http = await serve();
  const { server } = await openHttp(http.url);
  const running = call(server, 'web_hang');
  const outcome = expect(running).rejects.toMatchObject({ code: 'lost' });
  await eventually(() => expect(http.notes).toContain('called hang'));
  await http.stop();
  await outcome;
});

test('a server that forgot our session is greeted anew', async () => {
  const http = await serve();
  const { server } = await openHttp(http.url);
  http.forget();
  await expect(call(server, 'web_greet')).rejects.toMatchObject({ code: 'lost' });
  await eventually(() => expect(server.state).toBe('connected'));
  expect(await call(server, 'web_greet')).toBe('hello nobody');
  expect(server.describe().lastError).toContain('it no longer recognizes our session');
});

test('closing ends the session on the server', async () => {
  const http = await serve();
  const { server } = await openHttp(http.url);
  expect(http.sessions()).toBe(1);
  await server.close();
  expect(http.sessions()).toBe(0);
});

test('an address that the guarded fetch refuses is never reached', async () => {
  const http = await serve();
  const guardedFetch = () => Promise.reject(new Error('127.0.0.1 is a loopback address'));
  const { server } = await openHttp(http.url, {}, { guardedFetch });
  expect(server.describe().lastError).toContain('it cannot be reached: 127.0.0.1 is a loopback address');
  expect(http.headers).toEqual([]);
});

test('a server that does not let us in is quoted', async () => {
  const guardedFetch = async () => new Response('this token has expired', { status: 401 });
  const { server } = await openHttp('https://mcp.example/', {}, { guardedFetch });
  expect(server.describe().lastError).toBe(
    'The MCP server "tried" cannot be started: it answered with HTTP 401: this token has expired.',
  );
});

test('a server that does not answer is not waited for', async () => {
  const guardedFetch = () => new Promise<Response>(() => {});
  const { server } = await openHttp('https://mcp.example/', { startTimeoutMs: 100 }, { guardedFetch });
  expect(server.describe().lastError).toContain('it gave no answer within 100 ms');
});

test('without a guarded fetch nothing is reached', async () => {
  const http = await serve();
  const { server } = await open(httpConfig(http.url, { timeoutMs: 1000 }));
  expect(server.describe().lastError).toContain('no guarded fetch was given');
  expect(http.headers).toEqual([]);
});

test('an answer without measure is cut off', async () => {
  const http = await serve();
  const guardedFetch = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(url, init);
    const isCall = String(init?.body).includes('tools/call');
    return isCall ? new Response(' '.repeat(11 * 1024 * 1024), { headers: response.headers }) : response;
  };
  const { server } = await openHttp(http.url, {}, { guardedFetch });
  await expect(call(server, 'web_greet')).rejects.toMatchObject({ code: 'lost' });
  await eventually(() => expect(server.describe().lastError).toContain('an answer of it is longer than'));
});
