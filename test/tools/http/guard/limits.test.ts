import { once } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { type GuardedFetchOptions, guardedFetch } from '../../../../src/tools/http/guard/guarded-fetch.ts';
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

const localFetch = (options: Partial<GuardedFetchOptions>) =>
  guardedFetch({ allowPrivate: ['127.0.0.1'], ...options });

describe('a body', () => {
  test('of exactly the size that is allowed is read', async () => {
    const { origin } = await startServer((response) => response.end('x'.repeat(1000)));
    expect(await (await localFetch({ maxBytes: 1000 })(origin)).text()).toHaveLength(1000);
  });

  test('of one byte more is an error, not a shorter body', async () => {
    const { origin } = await startServer((response) => response.end('x'.repeat(1001)));
    const answer = await localFetch({ maxBytes: 1000 })(origin);
    await expect(answer.text()).rejects.toThrow(`${origin} answered with more than 1000 bytes.`);
  });

  test('that never ends is cut off while it streams', async () => {
    const { origin } = await startServer((response) => {
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', write);
      write();
    });
    const answer = await localFetch({ maxBytes: 100_000 })(origin);
    await expect(answer.text()).rejects.toMatchObject({ code: 'too-large' });
  });

  test('is measured as it is unpacked, so that a small file cannot become a large one', async () => {
    const { origin } = await startServer((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000))),
    );
    const answer = await localFetch({ maxBytes: 100_000 })(origin);
    await expect(answer.text()).rejects.toMatchObject({ code: 'too-large' });
  });

  test('that breaks off is an error', async () => {
    const { origin } = await startServer((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
    });
    const answer = await localFetch({})(origin);
    await expect(answer.text()).rejects.toThrow('failed mid-response');
  });

  test.each([204, 304])('is not expected with %s', async (status) => {
    const { origin } = await startServer((response) => response.writeHead(status).end());
    expect((await localFetch({})(origin)).status).toBe(status);
  });
});

describe('time', () => {
  test('runs out for a server that never answers', async () => {
    const { origin } = await startServer(() => undefined);
    await expect(localFetch({ timeoutMs: 100 })(origin)).rejects.toThrow(`${origin} timed out after 100 ms.`);
  });

  test('runs out for a body that trickles', async () => {
    const { origin } = await startServer((response) => {
      const trickle = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(trickle));
    });
    const answer = await localFetch({ timeoutMs: 1_000 })(origin);
    await expect(answer.text()).rejects.toMatchObject({ code: 'timed-out' });
  });

  test('runs out for a resolver that never answers', async () => {
    const lookup = () => new Promise<never>(() => undefined);
    await expect(localFetch({ timeoutMs: 100, lookup })('http://slow.example/')).rejects.toMatchObject({
      code: 'timed-out',
    });
  });

  test('runs over all redirects together', async () => {
    const { origin } = await startServer((response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60);
    });
    await expect(localFetch({ timeoutMs: 150 })(origin)).rejects.toMatchObject({ code: 'timed-out' });
  });
});

describe('a signal', () => {
  test('that has fired already lets nothing out', async () => {
    const server = await startServer();
    const reason = new Error('stopped');
    await expect(localFetch({})(server.origin, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('ends a call that waits for its answer, with the reason of whoever fired it', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const { origin } = await startServer(() => stop.abort(reason));
    await expect(localFetch({})(origin, { signal: stop.signal })).rejects.toBe(reason);
  });

  test('ends a body in the middle', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const { origin } = await startServer((response) => response.write('half'));
    const answer = await localFetch({})(origin, { signal: stop.signal });
    const text = answer.text();
    stop.abort(reason);
    await expect(text).rejects.toBe(reason);
  });
});

describe('what goes wrong on the way', () => {
  test('before a connection is told by its code, without the address behind the name', async () => {
    const closed = await startServer();
    await closed.stop();
    servers.splice(0);
    const fetch = guardedFetch({ allowPrivate: ['gone.example'], lookup: async () => ['127.0.0.1'] });
    await expect(fetch(`http://gone.example:${closed.port}/`)).rejects.toThrow(
      'The host "gone.example" could not be reached (ECONNREFUSED); nothing was sent.',
    );
  });

  test('after the request was sent is told as such', async () => {
    const rude = createServer((socket) => socket.once('data', () => socket.destroy()));
    rude.listen(0, '127.0.0.1');
    await once(rude, 'listening');
    const address = rude.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(localFetch({})(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'broken-off' });
    rude.close();
  });

  test('with a header that cannot be sent does not repeat it', async () => {
    const call = localFetch({})('http://127.0.0.1/', { headers: { authorization: 'top\nsecret' } });
    await expect(call).rejects.toThrow('A header cannot be sent: it must be one line of Latin-1.');
  });

  test('a body that could not be sent again is refused at once', async () => {
    const body = new Blob(['x']);
    await expect(localFetch({})('http://127.0.0.1/', { method: 'POST', body })).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });
});
