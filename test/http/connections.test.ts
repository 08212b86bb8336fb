import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { jsonAnswer } from '../../src/http/http-answer.ts';
import type { HttpRoute } from '../../src/http/http-part.ts';
import { serverForTest } from '../bot/slack/support.ts';

/** Opens connections that send some bytes and nothing more. */
async function crowd(url: string, size: number, sent: string): Promise<Socket[]> {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: size }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => {});
          socket.once('connect', () => socket.write(sent, () => resolve()));
        }),
    ),
  );
  return sockets;
}

test.each([
  ['say nothing', ''],
  ['send half a request', 'POST /slow HTTP/1.1\r\nhost: here\r\ncontent-length: 10\r\n\r\nhalf'],
])('1,000 connections that %s keep nobody out, and a request that waits goes on', async (_, sent) => {
  let finish = (): void => {};
  const waits = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const slow = { method: 'GET', path: '/slow', answer: () => waits.then(() => jsonAnswer(200, {})) } as const;
  const reading: HttpRoute = {
    method: 'POST',
    path: '/slow',
    answer: async ({ body }) => jsonAnswer(200, { length: (await body()).length }),
  };
  const part = { paths: ['/slow'], open: async () => ({ routes: [slow, reading] }) };
  const { url } = await serverForTest({ parts: [part], requestMs: 60_000 });
  const waiting = fetch(`${url}/slow`);
  await crowd(url, 1_000, sent);
  for (let look = 0; look < 3; look += 1)
    expect((await fetch(`${url}/health`, { headers: { connection: 'close' } })).status).toBe(200);
  finish();
  expect((await waiting).status).toBe(200);
});
