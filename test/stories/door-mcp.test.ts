import { request as httpRequest } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { admitTaskResults, startedTask, TASKS_EXTENSION } from '../../src/tools/mcp/follow-task.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { type Calling, KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { PIXEL } from './fixtures/plot-tool.ts';
import { CAST, PLACES } from './support.ts';

const Task = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().optional(),
  createdAt: z.iso.datetime(),
  ttlMs: z.number().nullable(),
  result: z.looseObject({ isError: z.boolean().optional(), content: z.unknown() }).optional(),
});
const Empty = z.looseObject({});
const URL_OF = (port: number) => new URL(`http://127.0.0.1:${port}/mcp`);
const headersOf = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });
const REFUND = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

/** Connects a client of the current protocol. */
async function connect(port: number, { key = KEYS.pipeline, withTasks = true } = {}) {
  const client = new Client(
    { name: 'story', version: '1' },
    {
      capabilities: withTasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {},
      versionNegotiation: { mode: 'auto' },
    },
  );
  const transport = new StreamableHTTPClientTransport(URL_OF(port), headersOf(key));
  await client.connect(transport);
  admitTaskResults(transport);
  onTestFinished(() => client.close());
  const get = (taskId: string) => client.request({ method: 'tasks/get', params: { taskId } }, Task);
  return {
    client,
    get,
    call: async (call: { name: string; arguments: Record<string, unknown> } = REFUND) =>
      startedTask(await client.callTool(call)) ?? '',
    cancel: (taskId: string) => client.request({ method: 'tasks/cancel', params: { taskId } }, Empty),
    /** Polls a task until it has ended. */
    async end(taskId: string) {
      for (;;) {
        const task = await get(taskId);
        if (task.status !== 'working') return task;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

/** Connects a client of the protocol 2025-11-25, which knows no tasks. */
async function connectOlder(port: number, key = KEYS.pipeline): Promise<OlderClient> {
  const client = new OlderClient({ name: 'older', version: '1' });
  await client.connect(new OlderTransport(URL_OF(port), headersOf(key)));
  onTestFinished(() => client.close());
  return client;
}

const textsIn = (result: unknown): string =>
  z
    .looseObject({ content: z.array(z.looseObject({ text: z.string() })) })
    .parse(result)
    .content.map(({ text }) => text)
    .join('\n');

const cards = (door: Calling) =>
  door.workspace
    .messagesIn(PLACES.general)
    .filter(({ blocks }) => /Approval needed/.test(JSON.stringify(blocks)));

test('a gated call is a task that is there when it is returned, survives the bot, and has the result once people approved', async () => {
  const door = await startCalling();
  const first = await connect(door.bot().port);
  expect(first.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  const { tools } = await first.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(['delete_customer', 'read_order', 'refund_order']);
  const taskId = await first.call();
  expect(await first.get(taskId)).toMatchObject({
    status: 'working',
    statusMessage: 'Waiting for approval in Slack',
    ttlMs: null,
  });
  await door.place.shows(/Approval needed/);
  const second = await connect((await door.restart()).port);
  expect((await second.get(taskId)).status).toBe('working');
  // The same call while it waits is the same request.
  expect(await second.call()).toBe(taskId);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const task = await second.end(taskId);
  expect(task).toMatchObject({ status: 'completed', result: { content: [{ type: 'text' }] } });
  expect(task.result?.isError).toBeUndefined();
  expect(JSON.parse(textsIn(task.result))).toMatchObject({ orderId: 'A-1001', refunded: 12_000 });
  expect(await door.refunded()).toBe(12_000);
  expect(cards(door)).toHaveLength(0);
});

test('a rejected call has completed with an error in the words of the person, a cancelled one is withdrawn, and an edited one says so', async () => {
  const door = await startCalling();
  const { call, end, cancel, client } = await connect(door.bot().port);
  const rejected = await call();
  await door.reject(CAST.bruno, /Approval needed/, 'Too much.');
  const task = await end(rejected);
  expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
  expect(textsIn(task.result)).toBe(`Rejected by ${CAST.bruno}: Too much.`);

  const cancelled = await call();
  expect(cancelled).not.toBe(rejected);
  await door.place.shows(/Approval needed/);
  await cancel(cancelled);
  expect(await end(cancelled)).toMatchObject({
    status: 'cancelled',
    statusMessage: 'Withdrawn. It did not run.',
  });
  await door.place.shows(/withdrawn by .*release-pipeline/i);
  // Again changes nothing.
  await cancel(cancelled);
  expect(await door.refunded()).toBe(0);

  const edited = await call();
  await door.place.click(CAST.bruno, /Approval needed/, 'edit');
  const modal = await door.modalFor(CAST.bruno);
  await door.workspace.as(CAST.bruno).submit(modal.id, { 'field-1': '11000' });
  await door.place.shows(/11000[\s\S]*edited by/i);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(textsIn((await end(edited)).result)).toContain(
    `Edited by ${CAST.bruno}. The input is now: {"orderId":"A-1001","amount":11000`,
  );
  // What needs nobody is answered at once.
  const small = await client.callTool({ ...REFUND, arguments: { orderId: 'A-1001', amount: 500 } });
  expect(startedTask(small)).toBeUndefined();
  expect(textsIn(small)).toContain('"refunded":500');
});

test("another caller's task is as unknown as one that never was, and its tools are its own", async () => {
  const door = await startCalling();
  const { port } = door.bot();
  const own = await connect(port);
  const other = await connect(port, { key: KEYS.other });
  const taskId = await own.call();
  const unknown = taskId.replace(/.{8}$/, '00000000');
  for (const { get, cancel } of [other]) {
    for (const id of [taskId, unknown, 'x', '']) {
      await expect(get(id)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('no such task'),
      });
      await expect(cancel(id)).rejects.toMatchObject({ code: -32602 });
    }
  }
  expect((await own.get(taskId)).status).toBe('working');
  expect((await other.client.listTools()).tools.map(({ name }) => name)).toEqual(['refund_order']);
  const remove = { name: 'delete_customer', arguments: { customer: 'Hooper Ltd' } };
  await expect(other.client.callTool(remove)).rejects.toMatchObject({ code: -32602 });
  for (const name of ['no_such_tool', 'ask_question'])
    await expect(own.client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32602 });
  const unfit = await own.client.callTool({ ...REFUND, arguments: { orderId: 'A-1001', amount: 'much' } });
  expect(unfit.isError).toBe(true);
  expect(textsIn(unfit)).toContain('amount');
  // Another caller's identical call is a request of its own.
  expect(await other.call()).not.toBe(taskId);
  const plain = await connect(port, { withTasks: false });
  await expect(plain.get(taskId)).rejects.toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  });
});

test('tasks/update is acknowledged as complete, and who has not declared tasks is told so with the status 400', async () => {
  const door = await startCalling();
  const { port } = door.bot();
  const { call, get } = await connect(port);
  const taskId = await call();
  // As it is sent: the client hides some of it.
  const send = (method: string, extensions: object) =>
    fetch(URL_OF(port), {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${KEYS.pipeline}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
        ...{ 'mcp-method': method, 'mcp-name': taskId },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method },
        params: {
          ...{ taskId, inputResponses: { none: { ignored: true } } },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': { extensions },
          },
        },
      }),
    });
  const updated = await send('tasks/update', { [TASKS_EXTENSION]: {} });
  expect(await updated.text()).toContain('"resultType":"complete"');
  expect((await get(taskId)).status).toBe('working');
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const refused = await send(method, {});
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32021 } });
  }
  expect((await get(taskId)).status).toBe('working');
});

test('clients without tasks wait with progress; the result comes when people approve in that time', async () => {
  const door = await startCalling();
  const { port } = door.bot();
  const older = await connectOlder(port);
  const current = await connect(port, { withTasks: false });
  expect((await older.listTools()).tools.map(({ name }) => name)).toContain('check_request');
  const told: unknown[] = [];
  const calls = [
    older.callTool(REFUND, undefined, { onprogress: (progress) => told.push(progress) }),
    // The same call by the same caller: both wait for one request.
    current.client.callTool(REFUND),
  ];
  await expect.poll(() => told, { timeout: 15_000 }).not.toEqual([]);
  expect(told[0]).toMatchObject({ progress: 1, message: 'Waiting for approval in Slack' });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  for (const result of nonEmpty(await Promise.all(calls)))
    expect(JSON.parse(textsIn(result))).toMatchObject({ refunded: 12_000 });
  expect(await door.refunded()).toBe(12_000);
});

test('after its time a client without tasks is told the request, and reads the end with check_request', async () => {
  const door = await startCalling();
  const { port } = await door.startOwnBot({ mcpWaitMs: 100 });
  const older = await connectOlder(port);
  const waiting = await older.callTool(REFUND);
  expect(waiting.isError).toBeUndefined();
  const [, request = ''] =
    /request (\S+)\. Do not repeat the call; call check_request/.exec(textsIn(waiting)) ?? [];
  expect(request).not.toBe('');
  const check = { name: 'check_request', arguments: { request } };
  expect(textsIn(await older.callTool(check))).toContain('Waiting for approval');
  expect(textsIn(await older.callTool(REFUND))).toContain(request);
  const stranger = await connectOlder(port, KEYS.other);
  const refused = await stranger.callTool(check);
  expect(refused.isError).toBe(true);
  expect(textsIn(refused)).toContain('has no request');
  expect((await older.callTool({ name: 'check_request', arguments: {} })).isError).toBe(true);
  await door.reject(CAST.bruno, /Approval needed/, 'Not today.');
  const end = await older.callTool(check);
  expect(end.isError).toBe(true);
  expect(textsIn(end)).toBe(`Rejected by ${CAST.bruno}: Not today.`);
});

test('a list has the hints that the manifest stands for, and a result with fields is structured', async () => {
  const door = await startCalling();
  const { port } = door.bot();
  for (const client of [(await connect(port)).client, await connectOlder(port)]) {
    const listed = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool.annotations]));
    expect(listed.get('read_order')).toEqual({ readOnlyHint: true });
    expect(listed.get('refund_order')).toEqual({ readOnlyHint: false, idempotentHint: true });
  }
  const { client } = await connect(port);
  const small = { ...REFUND, arguments: { orderId: 'A-1001', amount: 500 } };
  expect((await client.callTool(small)).structuredContent).toMatchObject({ refunded: 500 });
  const { body } = await door.send('GET', '/v1/tools', { key: KEYS.other });
  expect(body).toMatchObject({ tools: [{ effect: 'idempotent', output_schema: { type: 'object' } }] });
});

test('a limit is told in the result', async () => {
  const manifest = WITH_CALLERS.replace('pending: 5', 'pending: 1');
  const door = await startCalling({ manifest });
  const { client, call } = await connect(door.bot().port);
  await call();
  const more = await client.callTool({ ...REFUND, arguments: { orderId: 'A-1001', amount: 13_000 } });
  expect(more.isError).toBe(true);
  expect(textsIn(more)).toContain('wait for people already');
});

test('a call whose outcome is unknown is still open; once somebody confirmed that it ran, its task says so', async () => {
  const server = await startRecordingServer((response) => {
    response.statusCode = 504;
    response.end('gateway timeout');
  });
  onTestFinished(() => server.stop());
  const tool = `tools:
  refund_remote:
    description: Books.
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { policy: release }`;
  const door = await startCalling({ manifest: WITH_CALLERS.replace('tools:', tool) });
  const { call, get, end } = await connect(door.bot().port);
  const taskId = await call({ name: 'refund_remote', arguments: {} });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.shows(/Outcome unknown/);
  expect(await get(taskId)).toMatchObject({
    status: 'working',
    statusMessage: 'It is not known whether this ran; people are asked',
  });
  await door.place.click(CAST.admin, /Outcome unknown/, 'ran');
  const modal = await door.modalFor(CAST.admin);
  await door.workspace.as(CAST.admin).submit(modal.id, { reason: 'It is in the books.' });
  const task = await end(taskId);
  expect(task).toMatchObject({ status: 'completed' });
  expect(textsIn(task.result)).toBe('It ran; people confirmed it. Its result is not known.');
  expect(server.requests).toHaveLength(1);
});

test('when the bot fails, the client is told so and nothing of the reason', async () => {
  const door = await startCalling();
  const { call, get, cancel } = await connect(door.bot().port);
  const taskId = await call();
  await door.place.shows(/Approval needed/);
  const [, id = ''] = taskId.split('-');
  // What is on record of it cannot be read any more.
  for (const key of await door.redis.keys(`{${door.prefix}}*${id}*`)) await door.redis.set(key, 'broken');
  for (const failed of [get(taskId), cancel(taskId)])
    await expect(failed).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/Something went wrong here\. Try again later\.$/),
    });
});

test('a request from elsewhere, without a key, or with a body that cannot be kept is refused, and nothing is recorded', async () => {
  const door = await startCalling();
  const { port } = door.bot();
  const good = {
    authorization: `Bearer ${KEYS.pipeline}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const call = (input: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund_order","arguments":${input}}}`;
  const big = call('{"orderId":"A-1001","amount":12000}');
  const send = (headers: object, body = big, method = 'POST') =>
    new Promise<number>((resolve, reject) => {
      const sent = httpRequest(
        { port, host: '127.0.0.1', path: '/mcp', method, headers: { ...good, ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.once('error', reject);
      sent.end(method === 'GET' ? undefined : body);
    });
  expect(await send({ host: 'evil.example' })).toBe(403);
  expect(await send({ host: 'localhost.evil.example:3000' })).toBe(403);
  expect(await send({ origin: 'https://evil.example' })).toBe(403);
  expect(await send({ origin: 'null' })).toBe(403);
  expect(await send({ authorization: '' })).toBe(401);
  expect(await send({ authorization: `Bearer ${'x'.repeat(43)}` })).toBe(401);
  expect(await send({}, `"${'x'.repeat(1_100_000)}"`)).toBe(413);
  expect(await send({}, call('{"orderId":"A-1001","amount":12345678901234567890}'))).toBe(400);
  expect(await send({}, call(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`))).toBe(400);
  expect(await send({}, 'no json')).toBe(400);
  expect(await send({ 'content-type': 'text/plain' })).toBe(415);
  for (const method of ['GET', 'TRACE', 'PUT', 'DELETE']) expect(await send({}, '', method)).toBe(405);
  expect(await send({ origin: 'http://localhost:8080' }, call('{}'))).toBe(200);
  expect(door.workspace.messagesIn(PLACES.general)).toEqual([]);
});

test('images of a result reach a caller beside its text, over MCP and REST, within the bound of a result', async () => {
  const tool = 'plot_sales: { module: ./test/stories/fixtures/plot-tool.ts, approval: { require: never } }';
  const manifest = WITH_CALLERS.replace('\ntools:\n', `\ntools:\n  ${tool}\n`).replace(
    '[refund_*, delete_customer, read_order]',
    '[plot_sales]',
  );
  const door = await startCalling({ manifest });
  const { client } = await connect(door.bot().port, { withTasks: false });
  const { content } = await client.callTool({ name: 'plot_sales', arguments: {} });
  expect(content).toEqual([
    { type: 'text', text: '{"kept":[true,false]}' },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
  ]);
  const { body } = await door.send('POST', '/v1/runs', { body: { tool: 'plot_sales', input: {} } });
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'succeeded',
    images: [{ type: 'image/png', data: PIXEL }],
  });
});
