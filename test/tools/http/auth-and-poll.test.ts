import { afterEach, expect, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import { type HttpToolDefinition, httpTool } from '../../../src/tools/http/http-tool.ts';
import { type RecordingServer, startRecordingServer } from './recording-server.ts';
import { runTool } from './run-tool.ts';

const servers: RecordingServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

type Answer = NonNullable<Parameters<typeof startRecordingServer>[0]>;

async function start(answer: Answer): Promise<RecordingServer> {
  const server = await startRecordingServer(answer);
  servers.push(server);
  return server;
}

const send = (response: Parameters<Answer>[0], status: number, value: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

function toolAt(server: RecordingServer, change: Partial<HttpToolDefinition> = {}) {
  return httpTool({
    name: 'deploy',
    description: 'Deploys.',
    inputSchema: { type: 'object', properties: {} },
    method: 'POST',
    url: `http://api.example:${server.port}/deployments`,
    body: { service: 'web' },
    allowPrivate: ['api.example'],
    lookup: async () => ['127.0.0.1'],
    timeoutMs: 5000,
    ...change,
  });
}

const authAt = ({ port }: RecordingServer) => ({
  tokenUrl: `http://api.example:${port}/token`,
  clientId: 'bot',
  clientSecret: 'hush',
  scope: 'deploy',
});

test('a client gets one token for many calls, and a new one when a server refuses it', async () => {
  let issued = 0;
  let accepted = 'token-1';
  const server = await start((response, { path, headers }) => {
    if (path === '/token') {
      issued += 1;
      send(response, 200, { access_token: `token-${issued}`, token_type: 'bearer', expires_in: 3600 });
    } else if (headers.authorization === `Bearer ${accepted}`) send(response, 200, { ok: true });
    else send(response, 401, {});
  });
  const tokens: string[] = [];
  const tool = toolAt(server, { auth: authAt(server), onToken: (token) => tokens.push(token) });
  expect(await runTool(tool, {})).toEqual({ ok: true });
  expect(await runTool(tool, {})).toEqual({ ok: true });
  accepted = 'token-2';
  expect(await runTool(tool, {})).toEqual({ ok: true });
  expect(tokens).toEqual(['token-1', 'token-2']);
  const asked = server.requests.find(({ path }) => path === '/token');
  expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('bot:hush').toString('base64')}`);
  expect(asked?.body).toContain('grant_type=client_credentials');
  expect(asked?.body).toContain('scope=deploy');
});

test('without a token nothing is sent, and the failure says so without the secret', async () => {
  const server = await start((response) => send(response, 401, { error: 'invalid_client' }));
  const failure = await runTool(toolAt(server, { auth: authAt(server) }), {}).catch(
    (error: unknown) => error,
  );
  expect(isNotDone(failure)).toBe(true);
  expect(String(failure)).toMatch(/gave no token, so nothing was sent/);
  expect(String(failure)).not.toContain('hush');
  expect(server.requests.map(({ path }) => path)).toEqual(['/token']);
});

const POLL = { everyMs: 10, forMs: 5_000 };

test('a call that is accepted is asked about until it has ended, at the address that the server names', async () => {
  let asked = 0;
  const server = await start((response, { path, method }) => {
    if (method === 'POST') send(response, 202, { id: 7 }, { location: '/jobs/7' });
    else {
      asked += 1;
      if (asked === 2) send(response, 503, {});
      else send(response, asked < 4 || path !== '/jobs/7' ? 202 : 200, { state: 'done' });
    }
  });
  const tool = toolAt(server, { poll: POLL, headers: { 'x-key': 'k' }, select: 'state' });
  expect(await runTool(tool, {})).toBe('done');
  const polls = server.requests.filter(({ method }) => method === 'GET');
  expect(polls).toHaveLength(4);
  expect(polls.every(({ path, headers }) => path === '/jobs/7' && headers['x-key'] === 'k')).toBe(true);
});

test('the manifest can say where the outcome is, and which values mean that it has not ended', async () => {
  let asked = 0;
  const server = await start((response, { method }) => {
    if (method === 'POST') send(response, 200, { job: { id: 'a/b' }, status: 'queued' });
    else {
      asked += 1;
      send(response, 200, { status: asked < 3 ? 'running' : 'failed' });
    }
  });
  const poll = { ...POLL, url: '/jobs/{{output.job.id}}', while: { status: ['queued', 'running'] } };
  expect(await runTool(toolAt(server, { poll }), {})).toEqual({ status: 'failed' });
  expect(server.requests.at(-1)?.path).toBe('/jobs/a%2Fb');
});

test.each([
  [
    'that does not end',
    (port: number) => [{ location: `http://api.example:${port}/jobs/1` }],
    /was accepted, and had not ended/,
  ],
  ['that names another server', () => [{ location: 'http://other.example/jobs/1' }], /at another server/],
  ['that names no address', () => [{}], /did not say where its outcome will be/],
] as const)('a call %s has an unknown outcome', async (_case, headersFor, words) => {
  const server: RecordingServer = await start((response) =>
    send(response, 202, {}, headersFor(server.port)[0]),
  );
  const failure = await runTool(toolAt(server, { poll: { everyMs: 10, forMs: 50 } }), {}).catch(
    (error: unknown) => error,
  );
  expect(String(failure)).toMatch(words);
  expect(isNotDone(failure)).toBe(false);
});

test('a call that is refused is not asked about, and has failed', async () => {
  const server = await start((response) => send(response, 409, { error: 'busy' }));
  const failure = await runTool(toolAt(server, { poll: POLL }), {}).catch((error: unknown) => error);
  expect(isNotDone(failure)).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test('a call that was accepted never counts as not run, also if there is no token to ask about it with', async () => {
  let tokens = 0;
  const server = await start((response, { path, method }) => {
    if (path === '/token') {
      tokens += 1;
      if (tokens > 1) send(response, 500, {});
      else send(response, 200, { access_token: 'first', token_type: 'bearer' });
    } else if (method === 'POST') send(response, 202, {}, { location: '/jobs/7' });
    else send(response, 401, {});
  });
  const tool = toolAt(server, { auth: authAt(server), poll: { everyMs: 10, forMs: 100 } });
  const failure = await runTool(tool, {}).catch((error: unknown) => error);
  expect(String(failure)).toMatch(/was accepted, and had not ended/);
  expect(isNotDone(failure)).toBe(false);
});

test('a call that was redirected before a 401 is not sent again: its first server may have carried it out', async () => {
  const server: RecordingServer = await start((response, { path }) => {
    if (path === '/token') send(response, 200, { access_token: 'first', token_type: 'bearer' });
    else if (path === '/deployments')
      response.writeHead(307, { location: `http://api.example:${server.port}/moved` }).end();
    else send(response, 401, {});
  });
  const tool = toolAt(server, { auth: authAt(server) });
  const failure = await runTool(tool, {}).catch((error: unknown) => error);
  expect(isNotDone(failure)).toBe(false);
  expect(server.requests.filter(({ path }) => path === '/deployments')).toHaveLength(1);
});
