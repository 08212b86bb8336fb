import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { jsonAnswer } from '../../src/http/http-answer.ts';
import type { HttpPart, HttpRoute } from '../../src/http/http-part.ts';
import { serverForTest } from '../bot/slack/support.ts';

/** A part with one address that takes what is posted. */
function taking(answer: HttpRoute['answer']): HttpPart {
  const path = '/callback/:token';
  return { paths: [path], open: async () => ({ routes: [{ method: 'POST', path, answer }] }) };
}

const away = async (): Promise<undefined> => {
  throw new Error('Redis is away');
};

test('it is alive as soon as it listens', async () => {
  const { url } = await serverForTest({ isConnected: () => false, refusedWrite: away });
  const answer = await fetch(`${url}/health`);
  expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}\n']);
});

test.each([
  [true, async () => undefined, 200, { redis: true, writes: true }],
  [false, async () => undefined, 503, { redis: true, writes: true }],
  [true, async () => 'OOM', 503, { redis: true, writes: 'OOM' }],
  [true, away, 503, { redis: false, writes: false }],
  [true, () => new Promise<undefined>(() => {}), 503, { redis: false, writes: false }],
])(
  'it is ready when Slack is connected and Redis takes writes (%#)',
  async (slack, refusedWrite, status, said) => {
    const { url } = await serverForTest({ isConnected: () => slack, refusedWrite });
    const answer = await fetch(`${url}/ready`);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ ok: status === 200, slack, ...said });
  },
);

test('a bot without some of its tools is ready, and says so', async () => {
  const { url } = await serverForTest({ toolProblems: () => 2 });
  const answer = await fetch(`${url}/ready`);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { ok: true, slack: true, redis: true, writes: true, tool_problems: 2 },
  ]);
});

test('a route gets the parts of the path and the body as they are', async () => {
  const taken: string[] = [];
  const part = taking(async ({ params: { token = '' }, body }) => {
    taken.push(token, (await body()).toString());
    return jsonAnswer(200, { ok: true });
  });
  const { url } = await serverForTest({ parts: [part] });
  const answer = await fetch(`${url}/callback/abc.def?from=here`, { method: 'POST', body: '{"ä":1}' });
  expect(answer.status).toBe(200);
  expect(taken).toEqual(['abc.def', '{"ä":1}']);
});

test.each([
  ['GET', '/callback/abc', 405],
  ['POST', '/health', 405],
  ['POST', '/callback/', 404],
  ['POST', '/callback/a/b', 404],
  ['POST', '/slack/events', 404],
  ['GET', '/', 404],
])('%s %s is refused in one line', async (method, path, status) => {
  const { url } = await serverForTest({ parts: [taking(() => jsonAnswer(200, {}))] });
  const answer = await fetch(url + path, { method });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toMatch(/^\{"ok":false,"error":"[^"]+"\}\n$/);
});

test.each([
  ['that says so', 'x'.repeat(1_000_001)],
  ['that does not', ReadableStream.from([Buffer.alloc(600_000), Buffer.alloc(600_000)])],
])('a body that is too long and %s is refused, and the server goes on', async (_says, body) => {
  let calls = 0;
  const part = taking(async ({ body: read }) => {
    await read();
    calls += 1;
    return jsonAnswer(200, {});
  });
  const { url } = await serverForTest({ parts: [part] });
  const request = { method: 'POST', body, duplex: 'half' } as RequestInit;
  expect((await fetch(`${url}/callback/abc`, request)).status).toBe(413);
  expect(calls).toBe(0);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test('what fails inside is one sentence and a reference', async () => {
  const part = taking(() => {
    throw new Error('the secret reason');
  });
  const { url } = await serverForTest({ parts: [part] });
  const answer = await fetch(`${url}/callback/abc`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(500);
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ ok: false, reference: expect.stringMatching(/^[\da-f-]{36}$/) });
  expect(text).not.toContain('secret');
});

test('what is no HTTP is refused in JSON', async () => {
  const { url } = await serverForTest();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*\{"ok":false,"error":"[^"]+"\}\n$/,
  );
});

/** A server that is busy with a call-back until `finish` is called. */
async function busyServer(stopMs?: number) {
  let finish = (): void => {};
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { server, url } = await serverForTest({
    ...(stopMs !== undefined && { stopMs }),
    parts: [
      taking(
        () =>
          new Promise((resolve) => {
            finish = () => resolve(jsonAnswer(200, { ok: true }));
            begin();
          }),
      ),
    ],
  });
  const answer = fetch(`${url}/callback/abc`, { method: 'POST', body: '{}' });
  answer.catch(() => {});
  await begun;
  return { server, url, answer, finish: () => finish() };
}

test.each([
  ['its head', 'POST /callback/abc HTTP/1.1\r\nhost: here\r\n'],
  ['its body', 'POST /callback/abc HTTP/1.1\r\nhost: here\r\ncontent-length: 10\r\n\r\nhalf'],
])(
  '500 clients that send half a request, up to %s, are answered and lose their sockets, and others are served',
  async (_half, half) => {
    const part = taking(async ({ body }) => jsonAnswer(200, { length: (await body()).length }));
    const { url } = await serverForTest({ parts: [part], requestMs: 1_000 });
    const { hostname, port } = new URL(url);
    const clients = Array.from({ length: 500 }, () => {
      // Such a client never closes its own half.
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      socket.on('error', () => {});
      const isReset = new Promise<string>((resolve) => {
        socket.once('end', () => resolve(said));
        socket.once('close', () => resolve(said));
      });
      socket.write(half);
      return { socket, isReset };
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const answers = await Promise.all(clients.map(({ isReset }) => isReset));
    expect(answers.filter((said) => !said.startsWith('HTTP/1.1 408 '))).toEqual([]);
    // The server has destroyed its sockets: what is written to one is refused by a reset.
    await Promise.all(
      clients.map(
        ({ socket }) =>
          new Promise<void>((resolve) => {
            socket.once('close', () => resolve());
            const write = () => !socket.destroyed && socket.write('more', () => setImmediate(write));
            write();
          }),
      ),
    );
    expect((await fetch(`${url}/health`)).status).toBe(200);
  },
);

test('a stop takes nothing new and lets a running request finish', async () => {
  const { server, url, answer, finish } = await busyServer();
  let isStopped = false;
  const stopped = server.stop().then(() => {
    isStopped = true;
  });
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  expect(isStopped).toBe(false);
  finish();
  const finished = await answer;
  expect([finished.status, finished.headers.get('connection')]).toEqual([200, 'close']);
  await stopped;
});

test('a stop does not wait for ever', async () => {
  const { server, answer } = await busyServer(100);
  await server.stop();
  await expect(answer).rejects.toThrow();
});
