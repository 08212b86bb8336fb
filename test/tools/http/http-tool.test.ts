import { afterEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/agent/json.ts';
import { type HttpToolDefinition, httpTool } from '../../../src/tools/http/http-tool.ts';
import { type RecordingServer, startRecordingServer } from './recording-server.ts';
import { runTool } from './run-tool.ts';

const servers: RecordingServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startServer(...parameters: Parameters<typeof startRecordingServer>): Promise<RecordingServer> {
  const server = await startRecordingServer(...parameters);
  servers.push(server);
  return server;
}

const inputSchema = {
  type: 'object',
  properties: { id: { type: 'string' }, amount: { type: 'integer' }, note: { type: 'string' } },
  required: ['id'],
};

function toolFor(server: RecordingServer, change: Partial<HttpToolDefinition> = {}) {
  return httpTool({
    name: 'refund_order',
    description: 'Refunds an order.',
    inputSchema,
    method: 'POST',
    url: `http://orders.example:${server.port}/orders/{{input.id}}/refunds`,
    body: { amount: '{{input.amount}}', note: '{{input.note}}' },
    allowPrivate: ['orders.example'],
    lookup: async () => ['127.0.0.1'],
    timeoutMs: 5000,
    ...change,
  });
}

const json = (value: unknown): Parameters<typeof startRecordingServer>[0] => {
  return (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

describe('a call', () => {
  test('is sent as its template says', async () => {
    const server = await startServer(json({ ok: true }));
    const tool = toolFor(server, {
      headers: { Authorization: 'Bearer token', 'X-Note': '{{input.note}}' },
      query: { dry: true },
    });
    expect(await runTool(tool, { id: 'a/1', amount: 5 })).toEqual({ ok: true });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/orders/a%2F1/refunds?dry=true',
      body: '{"amount":5}',
      headers: {
        host: `orders.example:${server.port}`,
        authorization: 'Bearer token',
        'content-type': 'application/json',
        'user-agent': 'countersign',
      },
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-note');
    expect(server.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  test('of an idempotent tool carries the same key in every try', async () => {
    const server = await startServer((response) => response.writeHead(503).end());
    const tool = toolFor(server, { effect: 'idempotent' });
    for (const _try of [1, 2, 3]) {
      await expect(runTool(tool, { id: '1' }, { idempotencyKey: 'call-7' })).rejects.toThrow('answered 503');
    }
    await expect(runTool(tool, { id: '1' }, { idempotencyKey: 'call-8' })).rejects.toThrow('answered 503');
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['call-7', 'call-7', 'call-7', 'call-8']);
    expect(tool).toMatchObject({ kind: 'tool', effect: 'idempotent' });
  });

  test('has no effect if it only reads, unless the definition says otherwise', () => {
    const definition = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } } as const;
    const url = 'https://orders.example/orders';
    expect(httpTool({ ...definition, url, method: 'POST' })).toMatchObject({ effect: 'once' });
    expect(httpTool({ ...definition, url, method: 'GET' })).toMatchObject({ effect: 'none' });
    expect(httpTool({ ...definition, url, method: 'GET', effect: 'once' })).toMatchObject({ effect: 'once' });
  });

  test('is tried once by the tool itself, whatever comes back', async () => {
    const server = await startServer((response) => response.destroy());
    await expect(runTool(toolFor(server), { id: '1' })).rejects.toThrow(
      'It may or may not have taken effect.',
    );
    expect(server.requests).toHaveLength(1);
  });

  test('with an input that cannot be written is not sent', async () => {
    const server = await startServer();
    const tool = toolFor(server, { headers: { 'X-Note': '{{input.note}}' } });
    await expect(runTool(tool, { id: '1', note: 'a\r\nX-Admin: 1' })).rejects.toThrow('nothing was sent');
    await expect(runTool(tool, { id: '..' })).rejects.toThrow('nothing was sent');
    expect(server.connections).toBe(0);
  });

  test('to a private host that nobody allowed is not sent', async () => {
    const server = await startServer();
    await expect(runTool(toolFor(server, { allowPrivate: [] }), { id: '1' })).rejects.toMatchObject({
      name: 'BlockedAddressError',
      host: 'orders.example',
    });
    expect(server.connections).toBe(0);
  });

  test('ends with the signal of the task', async () => {
    const stop = new AbortController();
    const server = await startServer(() => stop.abort(new Error('stopped')));
    await expect(runTool(toolFor(server), { id: '1' }, { signal: stop.signal })).rejects.toThrow('stopped');
  });

  test('that takes too long may have happened, and says so', async () => {
    const server = await startServer(() => undefined);
    const { port } = server;
    await expect(runTool(toolFor(server, { timeoutMs: 100 }), { id: '1' })).rejects.toThrow(
      `POST http://orders.example:${port}/orders/1/refunds: http://orders.example:${port} timed out after 100 ms. It may or may not have taken effect.`,
    );
  });
});

describe('an answer', () => {
  test.each<[string, JsonObject | undefined, string, unknown]>([
    ['JSON', { 'content-type': 'application/json; charset=utf-8' }, '{"a":0}', { a: 0 }],
    ['a kind of JSON', { 'content-type': 'application/problem+json' }, '[1]', [1]],
    ['text', { 'content-type': 'text/plain' }, '{"a":0}', '{"a":0}'],
    ['text of no type', undefined, 'plain', 'plain'],
    ['nothing', { 'content-type': 'application/json' }, '', null],
  ])('of %s is read as such', async (_kind, headers, body, expected) => {
    const type = headers?.['content-type'];
    const server = await startServer((response) =>
      response.writeHead(201, typeof type === 'string' ? { 'content-type': type } : {}).end(body),
    );
    expect(await runTool(toolFor(server), { id: '1' })).toEqual(expected);
  });

  test('without content is null', async () => {
    const server = await startServer((response) => response.writeHead(204).end());
    expect(await runTool(toolFor(server), { id: '1' })).toBeNull();
  });

  test('is cut down to what is selected, also when that is zero', async () => {
    const server = await startServer(json({ data: { items: [{ left: 0 }] } }));
    expect(await runTool(toolFor(server, { select: 'data.items.0.left' }), { id: '1' })).toBe(0);
    expect(await runTool(toolFor(server, { select: '/data/items' }), { id: '1' })).toEqual([{ left: 0 }]);
  });

  test.each([
    ['has nothing there', '{"data":{}}', 'so the call probably went through, but with nothing at "data.id".'],
    ['is not JSON', '<html>', 'so the call probably went through, but with a body that is not JSON.'],
  ])(
    'that %s to select is an error that says that the call probably went through',
    async (_what, body, message) => {
      const server = await startServer((response) => response.end(body));
      await expect(runTool(toolFor(server, { select: 'data.id' }), { id: '1' })).rejects.toThrow(message);
    },
  );

  test('that is too large is an error that says that the call probably went through', async () => {
    const server = await startServer((response) => response.end('x'.repeat(101)));
    await expect(runTool(toolFor(server, { maxBytes: 100 }), { id: '1' })).rejects.toThrow(
      /^POST \S+\/orders\/1\/refunds answered 200, so the call probably went through, but: .* more than 100 bytes\.$/,
    );
  });
});

describe('an answer that is no success', () => {
  test('is an error with the beginning of its text, and without query or headers', async () => {
    const server = await startServer((response) => response.writeHead(503).end('x'.repeat(1000)));
    const tool = toolFor(server, {
      query: { token: 's3cret-query' },
      headers: { Authorization: 'Bearer s3cret' },
    });
    await expect(runTool(tool, { id: '1' })).rejects.toMatchObject({
      status: 503,
      message: `POST http://orders.example:${server.port}/orders/1/refunds answered 503: ${'x'.repeat(500)}`,
    });
  });

  test.each([304, 400, 404, 500])('is what %s is', async (status) => {
    const server = await startServer((response) => response.writeHead(status).end());
    await expect(runTool(toolFor(server), { id: '1' })).rejects.toThrow(
      new RegExp(`refunds answered ${status}$`),
    );
  });

  test('is told by its status also when its text is too large or breaks off', async () => {
    const server = await startServer((response) => {
      response.writeHead(500, { 'content-length': 1000 }).write('half', () => response.destroy());
    });
    await expect(runTool(toolFor(server), { id: '1' })).rejects.toThrow(/answered 500: half$/);
    const large = await startServer((response) => response.writeHead(500).end('x'.repeat(100_000)));
    await expect(runTool(toolFor(large, { maxBytes: 100 }), { id: '1' })).rejects.toThrow('answered 500');
  });

  const redact = (text: string) => text.replaceAll('s3cret/key', '[redacted]');

  test('shows no secret that it repeats, not even half of one at the edge of what is shown', async () => {
    const server = await startServer((response, { headers }) =>
      response.writeHead(401).end(`${'x'.repeat(495)}${headers.authorization}`),
    );
    const tool = toolFor(server, { headers: { Authorization: 's3cret/key' }, redact });
    const error = await runTool(tool, { id: '1' }).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`${'x'.repeat(495)}[reda`);
    expect(String(error)).not.toContain('s3cr');
  });

  test('shows no secret of its path, plain or encoded', async () => {
    const server = await startServer((response) => response.writeHead(404).end());
    for (const path of ['s3cret/key', 's3cret%2Fkey']) {
      const url = `http://orders.example:${server.port}/hook/${path}`;
      await expect(runTool(toolFor(server, { url, redact }), { id: '1' })).rejects.toThrow(
        /\/hook\/\[redacted\] answered 404$/,
      );
    }
  });
});
