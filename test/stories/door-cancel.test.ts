import { request as httpRequest } from 'node:http';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { TASKS_EXTENSION } from '../../src/tools/mcp/follow-task.ts';
import { type Calling, KEYS, startCalling } from './calling.ts';
import { CAST } from './support.ts';

const CANCELLED = /withdrawn by .*release-pipeline[\s\S]*The client cancelled its call/i;

/** Sends a call as a client of the current protocol does, and returns how the client leaves. */
function call(door: Calling, { progress = false, tasks = false, amount = 12_000 } = {}) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': tasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {},
  };
  const params = {
    name: 'refund_order',
    arguments: { orderId: 'A-1001', amount },
    _meta: progress ? { ...envelope, progressToken: 'progress' } : envelope,
  };
  const sent = httpRequest({
    port: door.bot().port,
    host: '127.0.0.1',
    path: '/mcp',
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEYS.pipeline}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'refund_order',
    },
  });
  let said = '';
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const answered = new Promise<string>((resolve) => {
    sent.on('error', () => resolve(said));
    sent.on('response', (response) => {
      response.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        begin();
      });
      response.on('error', () => {});
      response.on('close', () => resolve(said));
    });
  });
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  onTestFinished(() => void sent.destroy());
  return { begun, answered, leave: () => sent.destroy() };
}

test.each([
  ['before anything was answered', false],
  ['in the middle of its stream', true],
])(
  'a client that closes its connection %s has cancelled its call: it is withdrawn, and the card says so',
  async (_, progress) => {
    const door = await startCalling();
    const cancelled = call(door, { progress });
    await door.place.shows(/Approval needed/);
    if (progress) await cancelled.begun;
    cancelled.leave();
    await door.place.shows(CANCELLED);
    expect(await door.events()).toContain('withdrawn');
    expect(await door.refunded()).toBe(0);
  },
);

test('a request that two calls wait for is withdrawn with the last of them', async () => {
  const door = await startCalling();
  const first = call(door, { progress: true });
  await first.begun;
  const second = call(door, { progress: true });
  await second.begun;
  first.leave();
  await first.answered;
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await second.answered).toContain('refunded');
  expect(await door.refunded()).toBe(12_000);
});

test('what was answered as a task goes on without its client, also when another call for it is cancelled', async () => {
  const door = await startCalling();
  const task = call(door, { tasks: true });
  expect(await task.answered).toContain('"resultType":"task"');
  const joined = call(door, { progress: true });
  await joined.begun;
  joined.leave();
  await joined.answered;
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(door.refunded, { timeout: 15_000 }).toBe(12_000);
});

test('a client of an older protocol cancels in words, and its closed connection cancels nothing', async () => {
  const door = await startCalling();
  const client = new OlderClient({ name: 'older', version: '1' });
  const url = new URL(`http://127.0.0.1:${door.bot().port}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${KEYS.pipeline}` } };
  await client.connect(new OlderTransport(url, { requestInit }));
  const stop = new AbortController();
  const cancelled = client
    .callTool({ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }, undefined, {
      signal: stop.signal,
    })
    .catch(() => 'cancelled');
  await door.place.shows(/Approval needed/);
  stop.abort();
  expect(await cancelled).toBe('cancelled');
  await door.place.shows(CANCELLED);

  const gone = client
    .callTool({ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 13_000 } })
    .catch(() => 'gone');
  await door.place.shows(/Approval needed/);
  await client.close();
  expect(await gone).toBe('gone');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(door.refunded, { timeout: 15_000 }).toBe(13_000);
});
