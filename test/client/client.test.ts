import { createServer } from 'node:http';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import * as client from '../../src/client.ts';
import { CountersignClient, verifyReceipt, verifyWebhook } from '../../src/client.ts';
import type { AskRequest, AskView } from '../../src/door/ask-view.ts';
import type { RunRequest } from '../../src/door/door.ts';
import type { Receipt } from '../../src/door/receipt.ts';
import type { RunView } from '../../src/door/run-view.ts';
import { signedHeaders } from '../../src/door/webhooks.ts';
import type { Report } from '../../src/tools/toolbox/caller-action.ts';
import { type Calling, KEYS, startCalling } from '../stories/calling.ts';
import { CAST } from '../stories/support.ts';

const REFUND = { tool: 'refund_order', input: { orderId: 'A-1001', amount: 12_000 } };
const RELEASE = { policy: 'release', title: 'Release 1.2', command: 'make release' };
const clientOf = (door: Calling, key: string = KEYS.pipeline) =>
  new CountersignClient({ url: `http://127.0.0.1:${door.bot().port}`, key });

test('the types of the client take what the bot answers, and the bot takes what they allow', () => {
  expectTypeOf<RunView>().toExtend<client.Run>();
  expectTypeOf<AskView>().toExtend<client.Ask>();
  expectTypeOf<Receipt>().toExtend<client.Receipt>();
  expectTypeOf<keyof client.Run>().toEqualTypeOf<keyof RunView>();
  expectTypeOf<keyof client.Ask>().toEqualTypeOf<keyof AskView>();
  expectTypeOf<keyof client.Receipt>().toEqualTypeOf<keyof Receipt>();
  expectTypeOf<keyof client.RunRequest>().toEqualTypeOf<keyof RunRequest>();
  expectTypeOf<keyof client.AskRequest>().toEqualTypeOf<keyof AskRequest>();
  expectTypeOf<keyof client.Report>().toEqualTypeOf<keyof Report>();
  expectTypeOf<client.RunStatus>().toEqualTypeOf<RunView['status']>();
  expectTypeOf<client.AskStatus>().toEqualTypeOf<AskView['status']>();
});

test('a program asks for a call, waits while people decide, and reads the result', async () => {
  const door = await startCalling();
  const caller = clientOf(door);
  expect((await caller.tools()).map(({ name }) => name)).toContain('refund_order');
  const key = { idempotencyKey: 'refunds-1' };
  const asked = await caller.run(REFUND, key);
  expect(asked.tool).toBe('refund_order');
  expect(client.isEnded(asked.status)).toBe(false);
  expect((await caller.run(REFUND, key)).id).toBe(asked.id);
  const waiting = caller.waitForRun(asked.id);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await waiting).toMatchObject({
    status: 'succeeded',
    output: { refunded: 12_000 },
    decisions: [{ by: CAST.alice, decision: 'approve' }],
  });
});

test('a wait goes on when the bot is restarted', async () => {
  const door = await startCalling();
  const { port } = door.bot();
  const asked = await clientOf(door).run(REFUND);
  const waiting = clientOf(door).waitForRun(asked.id);
  await door.bot().stop();
  const proxy = createServer((request, response) => {
    const target = `http://127.0.0.1:${door.bot().port}${request.url}`;
    void fetch(target, { headers: { authorization: request.headers.authorization ?? '' } }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
    );
  });
  onTestFinished(() => {
    proxy.close();
  });
  await door.restart();
  await new Promise<void>((resolve) => {
    proxy.listen(port, '127.0.0.1', resolve);
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await waiting).status).toBe('succeeded');
});

test('what the bot refuses is an error with its code, and what waits can be withdrawn', async () => {
  const door = await startCalling();
  const caller = clientOf(door);
  await expect(caller.run({ tool: 'drop_tables' })).rejects.toMatchObject({
    name: 'RefusedError',
    code: 'tool-not-allowed',
    status: 403,
  });
  await expect(clientOf(door, 'wrong'.repeat(10)).tools()).rejects.toMatchObject({ code: 'unauthorized' });
  const asked = await caller.run(REFUND);
  expect((await caller.withdrawRun(asked.id)).status).toBe('withdrawn');
  expect((await caller.waitForRun(asked.id)).status).toBe('withdrawn');
});

test('an ask is approved, its receipt verified, started once and reported', async () => {
  const { privatePem, publicPem } = createKeyPair();
  const door = await startCalling({ auditKey: privatePem });
  const caller = clientOf(door);
  const asked = await caller.ask(RELEASE);
  const waiting = caller.waitForAsk(asked.id);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const approved = await waiting;
  expect(approved).toMatchObject({ status: 'approved', digest: asked.digest });
  const receipt = approved.receipt ?? '';
  const keys = `${createKeyPair().publicPem}${publicPem}`;
  expect(await verifyReceipt(receipt, { publicKeys: keys, caller: 'release-pipeline' })).toMatchObject({
    ask: asked.id,
    digest: asked.digest,
    approvers: [CAST.alice],
  });
  await expect(verifyReceipt(receipt, { publicKeys: createKeyPair().publicPem })).rejects.toThrow(
    'none of these keys',
  );
  await expect(verifyReceipt(receipt, { publicKeys: '' })).rejects.toThrow('none of these keys');
  await expect(verifyReceipt(receipt, { publicKeys: keys, caller: 'other-job' })).rejects.toThrow('"aud"');
  expect((await caller.startAsk(asked.id)).status).toBe('running');
  await expect(caller.startAsk(asked.id)).rejects.toMatchObject({ name: 'RefusedError', code: 'too-late' });
  expect((await caller.reportAsk(asked.id, { outcome: 'succeeded', exit_code: 0 })).status).toBe('succeeded');
});

test('a message of a webhook counts if it is signed with the secret and is new', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const body = JSON.stringify({ type: 'run.updated', timestamp: '2026-01-01T00:00:00Z', data: { id: 'r' } });
  const headersAt = (at: Date, by = secret) => new Headers(signedHeaders(by, 'msg_1', at, body));
  const now = new Date();
  expect(await verifyWebhook(body, { headers: headersAt(now), secret })).toMatchObject({ data: { id: 'r' } });
  const forged: readonly (readonly [string, Headers])[] = [
    [`${body} `, headersAt(now)],
    [body, headersAt(now, other)],
    [body, headersAt(new Date(now.getTime() - 301_000))],
    [body, new Headers()],
  ];
  for (const [text, headers] of forged)
    await expect(verifyWebhook(text, { headers, secret })).rejects.toThrow('The message');
});

test('a key never travels in clear text to another machine', () => {
  const open = (url: string) => () => new CountersignClient({ url, key: 'k' });
  expect(open('http://countersign.example.com')).toThrow('https');
  expect(open('countersign')).toThrow('is not the address');
  expect(open('http://localhost:3000/')).not.toThrow();
});
