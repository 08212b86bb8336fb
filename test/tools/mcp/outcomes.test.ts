import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isOutcomeUnknown } from '../../../src/agent/errors.ts';
import { call, open } from './support.ts';

type Answer =
  | { readonly status: number }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Serves one tool over streamable HTTP without sessions, and answers its call as told. */
async function serve(answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    const reply = (fields: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...fields }));
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize') {
      const { protocolVersion } = params;
      reply({
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'pay', version: '1' } },
      });
    } else if (method === 'tools/list')
      reply({ result: { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] } });
    else if (method !== 'tools/call') reply({ result: {} });
    else if ('status' in answer) response.writeHead(answer.status).end('the gateway says so');
    else reply(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function failureOf(answer: Answer): Promise<unknown> {
  const config = {
    transport: 'http' as const,
    url: await serve(answer),
    headers: {},
    prefix: '',
    timeoutMs: 20_000,
  };
  const { server } = await open(config, { guardedFetch: fetch });
  return call(server, 'pay').then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

test.each([
  [-32700, 'failed'],
  [-32600, 'failed'],
  [-32601, 'failed'],
  [-32602, 'failed'],
  [-32603, 'unknown'],
  [-32000, 'unknown'],
  [-32050, 'unknown'],
  [17, 'unknown'],
])('after the JSON-RPC error %i the outcome is %s', async (code, outcome) => {
  const error = await failureOf({ error: { code, message: 'as told' } });
  expect(error).toMatchObject({ message: expect.stringContaining('as told') });
  expect(isOutcomeUnknown(error) ? 'unknown' : 'failed').toBe(outcome);
});

test.each([
  [400, 'failed'],
  [403, 'failed'],
  [408, 'unknown'],
  [409, 'failed'],
  [429, 'failed'],
  [500, 'unknown'],
  [502, 'unknown'],
  [503, 'unknown'],
  [504, 'unknown'],
])('after the status %i the outcome is %s', async (status, outcome) => {
  const error = await failureOf({ status });
  expect(error).toBeInstanceOf(Error);
  expect(isOutcomeUnknown(error) ? 'unknown' : 'failed').toBe(outcome);
});
