import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PageServer } from '../../../playground/page-server/start-page-server.ts';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { folderForTest, pageForTest } from './support.ts';

const say = { channel: CHANNELS.general, text: 'hi' };

/** Sends a request exactly as it is given, which `fetch` would not. */
function send(
  server: PageServer,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number | undefined; body: string }> {
  const { port } = new URL(server.url);
  const { body = '', ...rest } = options;
  return new Promise((resolve, reject) => {
    const sending = request({ host: '127.0.0.1', port, path, ...rest }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: text }));
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

describe('another site', () => {
  test.each([
    ['that sends its own origin', { origin: 'https://evil.example' }, 403],
    ['that hides its origin', { origin: 'null' }, 403],
    ['on another port of this machine', { origin: 'http://localhost:1' }, 403],
    ['whose name was made to point to this machine', { host: 'evil.example' }, 403],
    ['whose name begins like ours', { host: 'localhost.evil.example' }, 403],
    ['that sends a form', { 'content-type': 'text/plain' }, 415],
  ])('%s cannot act', async (_how, headers, status) => {
    const { server, state } = await pageForTest();
    const answer = await send(server, `/client/${CAST.alice}/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(say),
    });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ ok: false, error: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(state.messages).toEqual([]);
  });

  test('cannot read the events of a client', async () => {
    const { server } = await pageForTest();
    const headers = { origin: 'https://evil.example' };
    expect(await send(server, `/client/${CAST.alice}/events`, { headers })).toMatchObject({ status: 403 });
  });
});

test.each(['localhost', '127.0.0.1', '[::1]'])('the page itself acts under the name %s', async (name) => {
  const { server, state } = await pageForTest();
  const host = `${name}:${new URL(server.url).port}`;
  const answer = await send(server, `/client/${CAST.alice}/send`, {
    method: 'POST',
    headers: { host, origin: `http://${host}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(say),
  });
  expect(answer.status).toBe(200);
  expect(state.messages).toHaveLength(1);
});

describe('the files of the page', () => {
  async function withFiles() {
    const folder = await folderForTest({ 'secret.json': 'not for the page' });
    const files = join(folder, 'dist');
    await mkdir(join(files, 'assets'), { recursive: true });
    await writeFile(join(files, 'index.html'), '<!doctype html>the page');
    await writeFile(join(files, 'assets', 'index-1.js'), 'export {};');
    return await pageForTest({ page: { files } });
  }

  test.each([
    '/',
    '/alice/C0GENERAL1',
    '/alice/C0GENERAL1/1700000000.000100',
    '/archives/C0GENERAL1/p1700000000000100?thread_ts=1700000000.000100',
    '/assets/none',
  ])('%s is drawn by the page, which is never kept', async (path) => {
    const { server } = await withFiles();
    const response = await fetch(server.url + path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('<!doctype html>the page');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining(
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
      ),
    });
  });

  test('a script has its type and is kept, as its name changes with its content', async () => {
    const { server } = await withFiles();
    const response = await fetch(`${server.url}/assets/index-1.js`);
    expect(await response.text()).toBe('export {};');
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('immutable');
  });

  test.each([
    '/../secret.json',
    '/%2e%2e/secret.json',
    '/..%2fsecret.json',
    '/assets/..%2f..%2fsecret.json',
    '/assets/none.js',
    '/assets/index-1.js%00.html',
    '/%ff.js',
  ])('%s is not among them', async (path) => {
    const { server } = await withFiles();
    const answer = await send(server, path);
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('not for the page');
  });
});

test('the record of a thread is read by its id, and is 404 where there is none', async () => {
  const { server, records } = await pageForTest();
  const threadId = 'C0GENERAL1:1700000000.000100';
  records.set(threadId, {
    threadId,
    state: 'idle',
    unread: 0,
    requests: [],
    audit: [],
    chain: { rows: 0, problems: [] },
    messages: [],
    now: 0,
  });
  const read = async (id: string) => await fetch(`${server.url}/record/${encodeURIComponent(id)}`);
  expect(await (await read(threadId)).json()).toEqual(records.get(threadId));
  expect((await read('C0GENERAL1:1700000000.000200')).status).toBe(204);
});

test('the health check answers', async () => {
  const { server } = await pageForTest();
  expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ ok: true });
});

test('a taken port is one sentence that says what to do', async () => {
  const { server } = await pageForTest();
  const port = Number(new URL(server.url).port);
  await expect(pageForTest({ page: { port } })).rejects.toThrow(
    `Port ${port} is taken by another program; choose another one with --port.`,
  );
});
