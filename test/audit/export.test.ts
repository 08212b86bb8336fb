import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudEvent, HTTP } from 'cloudevents';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startExporter } from '../../src/audit/exporter.ts';
import { fileMemory } from '../../src/audit/signer.ts';
import { readSigningKey } from '../../src/audit/signing-key.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { allRows, approveRefund, eventually, linesOf, openAuditWorld } from './support.ts';

const Data = z.looseObject({ type: z.string(), seq: z.number().optional() });

/** An endpoint that parses what it gets with the SDK of CloudEvents; it fails as long as it is told to. */
async function startEndpoint() {
  const received: { readonly id: string; readonly source: string; readonly data: z.infer<typeof Data> }[] =
    [];
  const seen: { readonly authorization: string | undefined }[] = [];
  const endpoint = { url: '', fails: 0, received, seen };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      seen.push({ authorization: request.headers.authorization });
      if (endpoint.fails > 0) {
        endpoint.fails -= 1;
        response.writeHead(503).end();
        return;
      }
      const event = HTTP.toEvent<unknown>({ headers: request.headers, body });
      if (!(event instanceof CloudEvent)) throw new Error('That is no event');
      event.validate();
      received.push({ id: event.id, source: event.source, data: Data.parse(event.data) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  endpoint.url = `http://127.0.0.1:${port}/events?secret=1`;
  return endpoint;
}

test('the file gets every row as it was written, then the checkpoint that covers them', async () => {
  const { store, file, exportOnce } = await openAuditWorld();
  await approveRefund(store);
  await exportOnce();
  const lines = linesOf(file);
  expect(lines.map(({ type }) => type)).toEqual(['row', 'row', 'row', 'row', 'row', 'checkpoint']);
  const rows = await allRows(store);
  expect(lines.slice(0, -1)).toEqual(rows.map((row) => expect.objectContaining({ ...row })));
  const [last] = rows.slice(-1);
  expect(lines.at(-1)).toMatchObject({
    n: 1,
    previous: '',
    seq: 5,
    hash: last?.hash,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('an export continues where it ended, and says nothing twice', async () => {
  const { store, file, exportOnce } = await openAuditWorld();
  await approveRefund(store);
  await exportOnce();
  await exportOnce();
  expect(linesOf(file)).toHaveLength(6);
  await approveRefund(store);
  await exportOnce();
  const lines = linesOf(file);
  expect(lines.filter(({ type }) => type === 'row')).toHaveLength(10);
  expect(lines.filter(({ type }) => type === 'checkpoint').map(({ n }) => n)).toEqual([1, 2]);
});

test('a file that was renamed is begun anew, and a torn last line is written again', async () => {
  const { store, file, exportOnce, redis } = await openAuditWorld();
  await approveRefund(store);
  await exportOnce();
  renameSync(file, `${file}.1`);
  await approveRefund(store);
  await exportOnce();
  const whole = readFileSync(file, 'utf8');
  expect(linesOf(file)).toHaveLength(6);
  appendFileSync(file, '{"type":"row","se');
  await store.note('more', 'configured', redis.prefix, {});
  await exportOnce();
  expect(readFileSync(file, 'utf8').startsWith(whole)).toBe(true);
  expect(linesOf(file)).toHaveLength(8);
});

test('the endpoint gets each row and each checkpoint as a CloudEvents event, the rows in order', async () => {
  const { store, keepExporting, redis } = await openAuditWorld();
  const endpoint = await startEndpoint();
  for (let index = 0; index < 5; index += 1) await approveRefund(store);
  await keepExporting({ http: { url: endpoint.url, headers: { authorization: 'Bearer collector' } } });
  await eventually(() => expect(endpoint.received.some(({ data }) => data.type === 'checkpoint')).toBe(true));
  const rows = await allRows(store);
  const sent = endpoint.received.filter(({ data }) => data.type === 'row');
  expect(sent.map(({ data }) => data)).toEqual(rows.map((row) => expect.objectContaining({ ...row })));
  expect(sent.map(({ id }) => id)).toEqual(rows.map(({ seq, hash }) => `row-${seq}-${hash.slice(0, 12)}`));
  expect(endpoint.seen[0]).toEqual({ authorization: 'Bearer collector' });
  // The address may hold a secret, so its query is not part of the name.
  const names = await redis.client.keys(`{${redis.prefix}}:document:export|*`);
  expect(names).toEqual([expect.not.stringContaining('secret=1')]);
});

test('two installations never send events with the same source and id', async () => {
  const endpoint = await startEndpoint();
  const http = { url: endpoint.url, headers: {} };
  const worlds = [await openAuditWorld(), await openAuditWorld()];
  for (const { store, keepExporting } of worlds) {
    await store.note('same', 'configured', 'manifest.yml', {});
    await keepExporting({ http });
    await keepExporting({ http });
  }
  await eventually(() => expect(endpoint.received).toHaveLength(4));
  const sources = endpoint.received.map(({ source }) => source);
  expect(new Set(sources)).toHaveProperty('size', 2);
  for (const source of nonEmpty(sources)) expect(source).toMatch(/^\/countersign\/[0-9a-f-]{36}\/audit$/);
  expect(new Set(endpoint.received.map(({ id, source }) => `${source} ${id}`))).toHaveProperty('size', 4);
});

test('an endpoint that fails is tried again until it has everything, and the file does not wait for it', async () => {
  const { store, file, keepExporting, logged } = await openAuditWorld();
  const endpoint = await startEndpoint();
  endpoint.fails = 2;
  await approveRefund(store);
  await keepExporting({ file, http: { url: endpoint.url, headers: {} } });
  await eventually(() => expect(linesOf(file)).toHaveLength(6));
  expect(endpoint.received).toEqual([]);
  await eventually(() => expect(endpoint.received).toHaveLength(6));
  expect(logged).toContainEqual({ level: 'warn', message: 'audit export failed' });
});

test('of several processes one signs and exports at a time, and another takes over when it stops', async () => {
  const { store, file, privateKeyFile } = await openAuditWorld();
  const key = await readSigningKey({ file: privateKeyFile });
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const start = () => {
    const settings = () => ({ file, http: undefined, retentionMs: undefined });
    const memory = fileMemory(`${privateKeyFile}.${randomUUID()}.state`);
    const exporter = startExporter({ store, settings, key, memory, log, everyMs: 20, checkpointEveryMs: 0 });
    onTestFinished(() => exporter.stop());
    return exporter;
  };
  const exporters = [start(), start(), start()];
  for (let index = 0; index < 5; index += 1) await approveRefund(store);
  const rowsIn = () => linesOf(file).filter(({ type }) => type === 'row');
  await eventually(() => expect(rowsIn()).toHaveLength(25));
  for (const exporter of nonEmpty(exporters.slice(0, 2))) {
    await exporter.stop();
    const before = rowsIn().length;
    await approveRefund(store);
    await eventually(() => expect(rowsIn()).toHaveLength(before + 5));
  }
  const numbers = linesOf(file).flatMap(({ n }) => (n === undefined ? [] : [n]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
