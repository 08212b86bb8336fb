import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import type { PreviewHelpers } from '../../../src/agent/tool.ts';
import { createPreview } from '../../../src/tools/presentation/linked-call.ts';

/** A server that keeps the method of every request. */
async function openServer(): Promise<{ url: string; methods: (string | undefined)[] }> {
  const methods: (string | undefined)[] = [];
  const server = createServer(({ method }, response) => {
    methods.push(method);
    response.end('42');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, methods };
}

type Compute = (helpers: PreviewHelpers) => string | Promise<string>;

function previewWith(compute: Compute) {
  const tool = defineTool(
    {
      name: 'edit_page',
      description: 'Edits a page.',
      inputSchema: z.object({}),
      preview: async (_input, helpers) => ({ before: await compute(helpers), after: '' }),
    },
    () => 'edited',
  );
  const refuse = () => Promise.reject(new Error('no tool can be read here'));
  const preview = createPreview(tool, undefined, refuse);
  return (context = {}) => preview?.({}, context);
}

test("a module's preview can read over HTTP", async () => {
  const { url, methods } = await openServer();
  const read = previewWith(async ({ fetch }) => {
    await fetch(url, { method: 'HEAD' });
    return (await fetch(url)).text();
  });
  expect(await read()).toEqual({ outcome: 'shown', before: '42', after: '' });
  expect(methods).toEqual(['HEAD', 'GET']);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'post', 'get '])(
  "a module's preview that tries to write with %s reaches nobody",
  async (method) => {
    const { url, methods } = await openServer();
    // A module in JavaScript is not held back by types.
    const init = JSON.parse(JSON.stringify({ method, body: 'changed' }));
    const write = previewWith(async ({ fetch }) => (await fetch(url, init)).text());
    expect(await write()).toEqual({ outcome: 'failed', reason: 'error' });
    expect(methods).toEqual([]);
  },
);

test("a module's preview is handed data, and no function but those that read", async () => {
  const names = previewWith(({ context, ...helpers }) => {
    const functions = Object.entries(helpers).filter(([, value]) => typeof value === 'function');
    return JSON.stringify([Object.keys(context), functions.map(([name]) => name).sort()]);
  });
  const context = { requester: 'U1', callbackUrl: () => 'https://example.com/answer' };
  expect(await names(context)).toMatchObject({ before: '[["requester"],["fetch","read"]]' });
});
