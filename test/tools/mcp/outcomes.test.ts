import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import { call, open } from './support.ts';

type Answer =
  | { readonly status: number }
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } };

const capabilities = { tools: {} };
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities,
  ttlMs: 0,
  cacheScope: 'private',
};

/** Serves one tool over streamable HTTP without sessions, in the current protocol or an older one, and answers its call as told. */
async function serve(answer: Answer, isCurrent: boolean, onCall: () => void): Promise<string> {
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
    if (method === 'tools/call') onCall();
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize') {
      const { protocolVersion } = params;
      reply({
        result: { protocolVersion, capabilities, serverInfo: { name: 'pay', version: '1' } },
      });
    } else if (method === 'server/discover' && isCurrent) reply({ result: DISCOVERED });
    else if (method === 'tools/list') {
      const tools = [{ name: 'pay', inputSchema: { type: 'object' } }];
      reply({ result: isCurrent ? { ...DISCOVERED, tools } : { tools } });
    } else if (method !== 'tools/call') reply({ result: {} });
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

/** Returns the output of the call, or its error. */
async function answerOf(answer: Answer, isCurrent = false, onCall = () => {}): Promise<unknown> {
  const config = {
    transport: 'http' as const,
    url: await serve(answer, isCurrent, onCall),
    headers: {},
    prefix: '',
    timeoutMs: 20_000,
  };
  const { server } = await open(config, { guardedFetch: fetch });
  return call(server, 'pay').catch((error: unknown) => error);
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
  const error = await answerOf({ error: { code, message: 'as told' } });
  expect(error).toMatchObject({ message: expect.stringContaining('as told') });
  expect(isNotDone(error) ? 'failed' : 'unknown').toBe(outcome);
});

test.each([
  [400, 'failed'],
  [403, 'failed'],
  [408, 'unknown'],
  [409, 'failed'],
  [429, 'failed'],
  [499, 'unknown'],
  [500, 'unknown'],
  [502, 'unknown'],
  [503, 'unknown'],
  [504, 'unknown'],
])('after the status %i the outcome is %s', async (status, outcome) => {
  const error = await answerOf({ status });
  expect(error).toBeInstanceOf(Error);
  expect(isNotDone(error) ? 'failed' : 'unknown').toBe(outcome);
});

test.each([
  [-32601, 'failed'],
  [-32602, 'failed'],
  [-32020, 'failed'],
  [-32021, 'failed'],
  [-32022, 'failed'],
  [-32603, 'unknown'],
  [-32001, 'unknown'],
])('in the current protocol, after the JSON-RPC error %i the outcome is %s', async (code, outcome) => {
  const error = await answerOf({ error: { code, message: 'as told' } }, true);
  expect(isNotDone(error) ? 'failed' : 'unknown').toBe(outcome);
});

test.each([
  ['no kind of result', { content: [] }],
  ['a result of an unknown kind', { resultType: 'hologram' }],
  ['a task without an id', { resultType: 'task' }],
  ['a question without questions and without a state', { resultType: 'input_required' }],
  ['content of an unknown kind', { resultType: 'complete', content: [{ type: 'hologram' }] }],
])(
  'in the current protocol, after %s the outcome is unknown and the call is not repeated',
  async (_what, result) => {
    let calls = 0;
    const error = await answerOf({ result }, true, () => {
      calls += 1;
    });
    expect(calls).toBe(1);
    expect(error).toBeInstanceOf(Error);
    expect(isNotDone(error)).toBe(false);
  },
);

test('in the current protocol, a call whose server only sends a new state is made again ten times, and is then unknown', async () => {
  let calls = 0;
  const error = await answerOf({ result: { resultType: 'input_required', requestState: '1' } }, true, () => {
    calls += 1;
  });
  expect(calls).toBe(11);
  expect(isNotDone(error)).toBe(false);
});

test.each([false, true])(
  'after a result with isError the outcome is unknown (current protocol: %s)',
  async (isCurrent) => {
    const result = { content: [{ type: 'text', text: 'the bank timed out' }], isError: true };
    const error = await answerOf(
      { result: isCurrent ? { resultType: 'complete', ...result } : result },
      isCurrent,
    );
    expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining('the bank timed out') });
    expect(isNotDone(error)).toBe(false);
  },
);

test('in an older protocol, content of an unknown kind is described', async () => {
  expect(await answerOf({ result: { content: [{ type: 'hologram' }] } })).toBe('[hologram]');
});
