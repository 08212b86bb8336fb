import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { breakThread, type Calling, ENVIRONMENT, FAILING, startCalling, WITH_CALLERS } from './calling.ts';
import { CAST } from './support.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const SWEEP = { everyMs: 100, overdueMs: 0 };
const Message = z.object({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.looseObject({ id: z.string(), status: z.string() }),
});

/** A receiver that checks every message as Standard Webhooks says, and answers with these statuses, then 204. */
async function startReceiver(statuses: number[] = []) {
  const taken: { id: string; type: string; status: string; request: string }[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const { type, data } = Message.parse(new Webhook(SECRET).verify(body, headers));
      expect(() => new Webhook(OTHER).verify(body, headers)).toThrow();
      const id = headers['webhook-id'] ?? '';
      const status = statuses.shift() ?? 204;
      if (status === 204) taken.push({ id, type, status: data.status, request: data.id });
      else refused.push(id);
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, taken, refused, statuses: () => taken.map(({ status }) => status) };
}

const manifestFor = (port: number, more = ', allow_private: ["127.0.0.1"]') =>
  WITH_CALLERS.replace(
    '    links: [ci.example.com]',
    `    links: [ci.example.com]\n    webhook: { url: "http://127.0.0.1:${port}/hook", secret: "\${HOOK_SECRET}"${more} }`,
  );
const withSecret = { environment: { ...ENVIRONMENT, HOOK_SECRET: SECRET }, sweep: SWEEP };
const metricsOf = (door: Calling) => door.bot().context.metrics.text();

test('a caller is told when its run waits and when it has ended, signed as Standard Webhooks says', async () => {
  const receiver = await startReceiver();
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port) });
  const { body } = await door.refund(12_000);
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting']);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting', 'succeeded']);
  expect(receiver.taken).toMatchObject([
    { type: 'run.updated', request: body.id },
    { type: 'run.updated', request: body.id },
  ]);
  expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(2);
  // The receiver knows it a moment before the bot does.
  await expect
    .poll(() => metricsOf(door))
    .toContain('countersign_webhooks_total{caller="release-pipeline",result="delivered"} 2');
});

test('a caller is told how its run ended although its thread fails again and again', async () => {
  const receiver = await startReceiver();
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port), timing: FAILING });
  await door.refund(12_000);
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting']);
  await breakThread(door);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting', 'succeeded']);
});

test('of an ask it is told as well that it may start', async () => {
  const receiver = await startReceiver();
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port) });
  const ask = { policy: 'release', title: 'Go', command: 'go' };
  const { body } = await door.send('POST', '/v1/asks', { body: ask });
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting']);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting', 'approved']);
  expect((await door.send('POST', `/v1/asks/${body.id}/start`)).code).toBe(200);
  await door.send('POST', `/v1/asks/${body.id}/report`, { body: { outcome: 'succeeded' } });
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toEqual(['waiting', 'approved', 'succeeded']);
  expect(receiver.taken.every(({ type }) => type === 'ask.updated')).toBe(true);
});

test('of an outcome that is unknown it is told, and again when somebody has said what happened', async () => {
  const receiver = await startReceiver();
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port) });
  const action = { policy: 'release', title: 'Release', command: 'make release', report_within: 1 };
  const { body } = await door.send('POST', '/v1/asks', { body: action });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toContain('approved');
  expect((await door.send('POST', `/v1/asks/${body.id}/start`)).code).toBe(200);
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toContain('unknown');
  await door.place.click(CAST.admin, /may or may not have happened/, 'ran');
  const modal = await door.modalFor(CAST.admin);
  await door.workspace.as(CAST.admin).submit(modal.id, { reason: 'I looked.' });
  await expect.poll(receiver.statuses, { timeout: 20_000 }).toContain('succeeded');
});

test('a message that is refused, redirected or not taken before a restart comes again under its id', async () => {
  const receiver = await startReceiver([500, 302]);
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port) });
  await door.refund(12_000);
  await expect.poll(() => receiver.refused.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await door.restart();
  await expect.poll(receiver.statuses, { timeout: 40_000 }).toEqual(['waiting']);
  expect(new Set([...receiver.refused, ...receiver.taken.map(({ id }) => id)]).size).toBe(1);
});

test('an address of this network that the manifest does not name is never reached, and the message is given up', async () => {
  const receiver = await startReceiver();
  const manifest = manifestFor(receiver.port, '');
  const door = await startCalling({ ...withSecret, manifest, webhookGiveUpMs: 1 });
  const { body } = await door.refund(500);
  expect((await door.end(body.id)).body.status).toBe('succeeded');
  await expect
    .poll(() => metricsOf(door), { timeout: 20_000 })
    .toContain('countersign_webhooks_total{caller="release-pipeline",result="given-up"} 1');
  expect(receiver.taken).toEqual([]);
});

test('a receiver that says that it is gone gets no more of a message', async () => {
  const receiver = await startReceiver([410]);
  const door = await startCalling({ ...withSecret, manifest: manifestFor(receiver.port) });
  await door.refund(500);
  await expect.poll(() => metricsOf(door), { timeout: 20_000 }).toContain('result="given-up"} 1');
  expect(receiver.refused).toHaveLength(1);
});
