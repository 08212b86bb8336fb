import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildModule } from '../../support/build-module.ts';
import { type CurrentHttpServer, serveCurrentHttp } from './fixtures/current-http-server.ts';
import { call, eventually, httpConfig, nodeConfig, open, temporaryFolder } from './support.ts';

const script = await buildModule(fileURLToPath(new URL('fixtures/current-server.ts', import.meta.url)));
const offered = ['greet', 'count', 'miscount', 'refine', 'hang', 'tick'];

async function serve(): Promise<CurrentHttpServer> {
  const http = await serveCurrentHttp();
  onTestFinished(() => http.stop());
  return http;
}

function openHttp(url: string) {
  return open(httpConfig(url), { guardedFetch: fetch });
}

/** Waits for the second list, which is read once the subscription stands. */
function subscribed(notes: () => readonly string[]): Promise<void> {
  return eventually(() => expect(notes().filter((note) => note === 'listed')).toHaveLength(2));
}

describe('a server that knows only the current protocol', () => {
  test('is connected over stdio, announces changes and gives results', async () => {
    const file = join(temporaryFolder(), 'notes');
    const { server, changes } = await open(nodeConfig([script, file]));
    expect(server.describe()).toMatchObject({
      state: 'connected',
      peer: 'current 2',
      protocol: '2026-07-28',
    });
    expect(await call(server, 'greet', { region: 'Rügen' })).toBe('hello Rügen');
    expect(await call(server, 'count')).toEqual({ count: 3 });
    await subscribed(() => readFileSync(file, 'utf8').split('\n'));
    await call(server, 'refine');
    await eventually(() => expect(changes.at(-1)?.[0]?.description).toBe('Greets loudly'));
  });

  test('is connected over HTTP without a session, with the headers that the protocol wants', async () => {
    const http = await serve();
    const { server } = await openHttp(http.url);
    expect(server.describe()).toMatchObject({ peer: 'current 2', protocol: '2026-07-28', tools: offered });
    expect(await call(server, 'greet', { region: 'Rügen' })).toBe('hello Rügen');
    expect(http.headers.map((headers) => headers['mcp-session-id'])).not.toContainEqual(expect.anything());
    expect(http.headers).toContainEqual(
      expect.objectContaining({
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'greet',
        'mcp-param-region': `=?base64?${Buffer.from('Rügen').toString('base64')}?=`,
      }),
    );
  });

  test('has a tool left out whose parameters cannot be sent as headers', async () => {
    const { server } = await openHttp((await serve()).url);
    expect(server.problems()).toEqual([
      { tool: 'misdeclared', problem: expect.stringContaining('is not the name of a header') },
    ]);
  });

  test('reports progress, and a stopped call is cancelled on it', async () => {
    const http = await serve();
    const { server } = await openHttp(http.url);
    const reports: unknown[] = [];
    const progress = (...report: unknown[]) => reports.push(report);
    expect(await call(server, 'tick', {}, { progress })).toBe('ticked');
    expect(reports).toContainEqual(['tick 2', 0.5]);

    const stop = new AbortController();
    const running = call(server, 'hang', {}, { signal: stop.signal });
    await eventually(() => expect(http.notes).toContain('called hang'));
    stop.abort(new Error('stopped by Ada'));
    await expect(running).rejects.toThrow('stopped by Ada');
    await eventually(() => expect(http.notes).toContain('hang was cancelled'));
  });

  test('has its output checked, and a call whose output does not fit has run', async () => {
    const { server } = await openHttp((await serve()).url);
    expect(await call(server, 'miscount')).toBe(
      '[the tool ran, but its structured result does not fit its output schema at "count": must be integer]\nthree',
    );
  });

  test('announces changes over HTTP', async () => {
    const http = await serve();
    const { server, changes } = await openHttp(http.url);
    await subscribed(() => http.notes);
    await call(server, 'refine');
    await eventually(() => expect(changes.at(-1)?.[0]?.description).toBe('Greets loudly'));
  });

  test('is listed again when a broken subscription stands again', async () => {
    const http = await serve();
    const { server, changes } = await openHttp(http.url);
    await subscribed(() => http.notes);
    http.refine();
    http.disconnect();
    await eventually(() => expect(changes.at(-1)?.[0]?.description).toBe('Greets loudly'));
    expect(server.describe().restarts).toBe(0);
  });
});
