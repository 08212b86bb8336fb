import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Agent, fetch as plainFetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BlockedAddressError } from '../../../../src/tools/errors.ts';
import { AllowedHosts } from '../../../../src/tools/http/guard/allowed-hosts.ts';
import { guardedConnector } from '../../../../src/tools/http/guard/guarded-connector.ts';
import { guardedFetch } from '../../../../src/tools/http/guard/guarded-fetch.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';

// Public by its range, but assigned to nobody: a connection to it fails, and nobody is troubled by the try.
const NOBODY = '2000::1';
const limits = { timeoutMs: 2000, maxBytes: 1000 };

let server: RecordingServer;
beforeAll(async () => {
  server = await startRecordingServer();
});
afterAll(() => server.stop());

/** A resolver that gives another answer each time, and the last one for ever. */
function turning(...answers: readonly (readonly string[])[]) {
  let asked = 0;
  const lookup = async () => answers[Math.min(asked++, answers.length - 1)] ?? [];
  return { lookup, asked: () => asked };
}

describe('a name whose address changes', () => {
  test('is resolved once per connection, so a second answer has no chance', async () => {
    const { lookup, asked } = turning([NOBODY], ['127.0.0.1']);
    const fetch = guardedFetch({ ...limits, allowPrivate: [], lookup });
    const before = server.connections;
    await expect(fetch(`http://rebind.example:${server.port}/`)).rejects.toMatchObject({
      name: 'HttpError',
    });
    expect(asked()).toBe(1);
    expect(server.connections).toBe(before);
  });

  test('is checked again for the next connection', async () => {
    const { lookup } = turning([NOBODY], ['127.0.0.1']);
    const fetch = guardedFetch({ ...limits, allowPrivate: [], lookup });
    const before = server.connections;
    await fetch(`http://rebind.example:${server.port}/`).catch(() => undefined);
    await expect(fetch(`http://rebind.example:${server.port}/`)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(server.connections).toBe(before);
  });

  test('is connected to at the address that was checked', async () => {
    const { lookup, asked } = turning(['127.0.0.1'], [NOBODY]);
    const fetch = guardedFetch({ ...limits, allowPrivate: ['rebind.example'], lookup });
    expect(await (await fetch(`http://rebind.example:${server.port}/`)).text()).toBe('reached');
    expect(asked()).toBe(1);
    expect(server.requests.at(-1)?.headers.host).toBe(`rebind.example:${server.port}`);
  });

  test.each([
    ['last', [NOBODY, '127.0.0.1']],
    ['first', ['127.0.0.1', NOBODY]],
    ['in the middle, in disguise', [NOBODY, '::ffff:127.0.0.1', NOBODY]],
  ])('is refused when only one of its answers is private: %s', async (_place, answers) => {
    const fetch = guardedFetch({ ...limits, allowPrivate: [], lookup: async () => answers });
    const before = server.connections;
    await expect(fetch(`http://mixed.example:${server.port}/`)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(server.connections).toBe(before);
  });

  test('with no address at all is unreachable', async () => {
    const fetch = guardedFetch({ ...limits, allowPrivate: [], lookup: async () => [] });
    await expect(fetch('http://empty.example/')).rejects.toThrow('"empty.example" has no address');
  });
});

describe('over a real resolver', () => {
  const sockets: ReturnType<typeof createSocket>[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close();
  });

  /** Answers every A query with the next of the addresses, and lets nobody keep an answer. */
  async function startDns(...addresses: readonly string[]) {
    const socket = createSocket('udp4');
    sockets.push(socket);
    let asked = 0;
    socket.on('message', (query, peer) => {
      const question = query.subarray(12, query.indexOf(0, 12) + 5);
      const address = addresses[Math.min(asked++, addresses.length - 1)] ?? '0.0.0.0';
      const head = Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
      const record = Buffer.from([
        0xc0,
        0x0c,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        4,
        ...address.split('.').map(Number),
      ]);
      socket.send(Buffer.concat([query.subarray(0, 2), head, question, record]), peer.port, peer.address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    return { lookup: (name: string) => resolver.resolve4(name), asked: () => asked };
  }

  test('a name that resolves to this machine is refused', async () => {
    const { lookup } = await startDns('127.0.0.1');
    const before = server.connections;
    const fetch = guardedFetch({ ...limits, allowPrivate: [], lookup });
    await expect(fetch(`http://rebind.example:${server.port}/`)).rejects.toBeInstanceOf(BlockedAddressError);
    expect(server.connections).toBe(before);
  });

  test('an answer that changes after the check changes nothing', async () => {
    const { lookup, asked } = await startDns('127.0.0.1', '127.0.0.99');
    const fetch = guardedFetch({ ...limits, allowPrivate: ['rebind.example'], lookup });
    await (await fetch(`http://rebind.example:${server.port}/`)).text();
    expect(asked()).toBe(1);
  });
});

describe('where a connection really went', () => {
  test('is checked before the first byte, also when the network led it astray', async () => {
    const received: Buffer[] = [];
    const inside = createServer((socket) => socket.on('data', (chunk) => received.push(chunk)));
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const address = inside.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const closed: Promise<unknown>[] = [];
    const open = (): Socket => {
      const socket = connect(port, '127.0.0.1');
      closed.push(once(socket, 'close'));
      return socket;
    };
    for (const scheme of ['http', 'https']) {
      const dispatcher = new Agent({ connect: guardedConnector({ hosts: new AllowedHosts([]), open }) });
      await expect(plainFetch(`${scheme}://public.example/`, { dispatcher })).rejects.toMatchObject({
        cause: { name: 'BlockedAddressError' },
      });
    }
    await Promise.all(closed);
    inside.close();
    await once(inside, 'close');
    expect(closed).toHaveLength(2);
    expect(received).toEqual([]);
  });

  test('is greeted over https with the name of the host, not with its address', async () => {
    const secure = createServer();
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const address = secure.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const greeting = once(secure, 'connection').then(async ([socket]: Socket[]) => {
      const [hello] = socket === undefined ? [] : await once(socket, 'data');
      socket?.destroy();
      return hello;
    });
    const fetch = guardedFetch({
      ...limits,
      allowPrivate: ['secure.example'],
      lookup: async () => ['127.0.0.1'],
    });
    await expect(fetch(`https://secure.example:${port}/`)).rejects.toMatchObject({ code: 'unreachable' });
    const hello: Buffer = await greeting;
    expect(hello.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]));
    expect(hello.includes('secure.example')).toBe(true);
    secure.close();
    await once(secure, 'close');
  });
});
