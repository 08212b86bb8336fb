import { afterEach, describe, expect, test } from 'vitest';
import { BlockedAddressError } from '../../../../src/tools/errors.ts';
import { guardedFetch } from '../../../../src/tools/http/guard/guarded-fetch.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';

const servers: RecordingServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startServer(...parameters: Parameters<typeof startRecordingServer>): Promise<RecordingServer> {
  const server = await startRecordingServer(...parameters);
  servers.push(server);
  return server;
}

/** A server that sends everybody on; `to` is asked for each request. */
function startRedirecting(status: number, to: (path: string) => string | undefined) {
  return startServer((response, { path }) => {
    const location = to(path);
    if (location === undefined) response.end('arrived');
    else response.writeHead(status, { location }).end();
  });
}

// Every name leads to this machine; only the ones that are allowed may go there.
const lookup = async () => ['127.0.0.1'];
const fetchAllowing = (...allowPrivate: string[]) =>
  guardedFetch({ allowPrivate, lookup, timeoutMs: 5000, maxBytes: 10_000 });

describe('a redirect to where no call may go', () => {
  test.each([
    ['an address', (port: number) => `http://127.0.0.1:${port}/`],
    ['a decimal address', (port: number) => `http://2130706433:${port}/`],
    ['a mapped address', (port: number) => `http://[::ffff:7f00:1]:${port}/`],
    ['a name that resolves to it', (port: number) => `http://inside.example:${port}/`],
    ['a URL without a scheme', (port: number) => `//127.0.0.1:${port}/`],
    ['https', (port: number) => `https://127.0.0.1:${port}/`],
    ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['the metadata service by name', () => 'http://metadata.google.internal/'],
  ])('is refused before a connection: %s', async (_where, target) => {
    const inside = await startServer();
    const outside = await startRedirecting(302, () => target(inside.port));
    await expect(
      fetchAllowing('outside.example')(`http://outside.example:${outside.port}/`),
    ).rejects.toBeInstanceOf(BlockedAddressError);
    expect(outside.requests).toHaveLength(1);
    expect(inside.connections).toBe(0);
  });

  test('is refused at the end of a chain as well', async () => {
    const inside = await startServer();
    const outside = await startRedirecting(307, (path) =>
      path === '/3' ? `http://127.0.0.1:${inside.port}/` : `/${Number(path.slice(1)) + 1}`,
    );
    await expect(
      fetchAllowing('outside.example')(`http://outside.example:${outside.port}/1`),
    ).rejects.toBeInstanceOf(BlockedAddressError);
    expect(outside.requests.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
    expect(inside.connections).toBe(0);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://outside.example/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'http://',
  ])('is refused when it is no http URL: %s', async (location) => {
    const outside = await startRedirecting(302, () => location);
    await expect(
      fetchAllowing('outside.example')(`http://outside.example:${outside.port}/`),
    ).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });

  test('is let go of when it is refused, though its body never ends', async () => {
    let isClosed: (() => void) | undefined;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const outside = await startServer((response) => {
      response.on('close', () => isClosed?.());
      response.writeHead(302, { location: 'file:///etc/passwd' }).write('endless');
    });
    await expect(
      fetchAllowing('outside.example')(`http://outside.example:${outside.port}/`),
    ).rejects.toMatchObject({ code: 'invalid-request' });
    await closed;
  });

  test('is refused when it carries credentials', async () => {
    const outside = await startRedirecting(302, () => 'http://ann:secret@outside.example/');
    await expect(fetchAllowing('outside.example')(`http://outside.example:${outside.port}/`)).rejects.toThrow(
      'carries a user name or password',
    );
  });
});

describe('a chain of redirects', () => {
  test('is followed five times', async () => {
    const server = await startRedirecting(302, (path) =>
      path === '/6' ? undefined : `/${Number(path.slice(1)) + 1}`,
    );
    const fetch = fetchAllowing('outside.example');
    expect(await (await fetch(`http://outside.example:${server.port}/1`)).text()).toBe('arrived');
    expect(server.requests).toHaveLength(6);
  });

  test('is given up at the sixth', async () => {
    const server = await startRedirecting(302, () => '/again');
    await expect(fetchAllowing('outside.example')(`http://outside.example:${server.port}/`)).rejects.toThrow(
      'redirects more than 5 times',
    );
    expect(server.requests).toHaveLength(6);
  });
});

describe('the request that follows', () => {
  const headers = {
    authorization: 'Bearer secret',
    cookie: 'a=b',
    'x-api-key': 'secret',
    accept: 'text/plain',
  };

  test('loses credentials and headers of ours when the origin changes', async () => {
    const other = await startServer();
    const first = await startRedirecting(302, () => `http://other.example:${other.port}/`);
    await fetchAllowing('first.example', 'other.example')(`http://first.example:${first.port}/`, { headers });
    expect(first.requests[0]?.headers).toMatchObject(headers);
    const received = other.requests[0]?.headers ?? {};
    expect(received.accept).toBe('text/plain');
    expect(received).not.toHaveProperty('authorization');
    expect(received).not.toHaveProperty('cookie');
    expect(received).not.toHaveProperty('x-api-key');
  });

  test('does not get them back when a chain returns to the first origin', async () => {
    const first = await startServer((response, { path }) => {
      if (path === '/back') response.end('arrived');
      else response.writeHead(302, { location: `http://other.example:${other.port}/` }).end();
    });
    const other = await startRedirecting(302, () => `http://first.example:${first.port}/back`);
    await fetchAllowing('first.example', 'other.example')(`http://first.example:${first.port}/`, { headers });
    expect(first.requests[1]?.path).toBe('/back');
    expect(first.requests[1]?.headers).not.toHaveProperty('authorization');
  });

  test('keeps its headers within one origin', async () => {
    const server = await startRedirecting(302, (path) => (path === '/end' ? undefined : '/end'));
    await fetchAllowing('first.example')(`http://first.example:${server.port}/`, { headers });
    expect(server.requests[1]?.headers).toMatchObject(headers);
  });

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [301, 'PUT', 'PUT', 'text'],
    [307, 'POST', 'POST', 'text'],
    [308, 'DELETE', 'DELETE', 'text'],
  ])('after a %s to a %s is a %s', async (status, method, then, body) => {
    const server = await startRedirecting(status, (path) => (path === '/end' ? undefined : '/end'));
    await fetchAllowing('first.example')(`http://first.example:${server.port}/`, {
      method,
      body: 'text',
      headers: { 'content-type': 'text/css' },
    });
    expect(server.requests[1]).toMatchObject({ method: then, body });
    expect(server.requests[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/css');
  });

  test('does not carry what was written to one origin to another', async () => {
    const other = await startServer();
    const first = await startRedirecting(307, () => `http://other.example:${other.port}/`);
    const fetch = fetchAllowing('first.example', 'other.example');
    await expect(
      fetch(`http://first.example:${first.port}/`, { method: 'POST', body: 'text' }),
    ).rejects.toThrow("which isn't the tool's address");
    expect(other.connections).toBe(0);
  });

  test('is left to a caller who wants to follow by hand', async () => {
    const server = await startRedirecting(302, () => '/end');
    const fetch = fetchAllowing('first.example');
    const answer = await fetch(`http://first.example:${server.port}/`, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('/end');
    await expect(fetch(`http://first.example:${server.port}/`, { redirect: 'error' })).rejects.toThrow(
      'redirects',
    );
  });
});
