import { createServer } from 'node:http';
import { generateKeyPair } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import {
  breakThread,
  CALLERS,
  ENVIRONMENT,
  FAILING,
  KEYS,
  startCalling,
  startIssuer,
  WITH_CALLERS,
} from './calling.ts';
import { CAST, PLACES } from './support.ts';

const slack = { app: { commands: ['/countersign'] } };
const SWEEP = { everyMs: 100, overdueMs: 0 };

test('a frozen caller is refused, and what people had approved for it is held until it is unfrozen; others go on', async () => {
  const door = await startCalling({ slack, sweep: SWEEP });
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  const command = (text: string) => door.workspace.as(CAST.admin).command('/countersign', text);
  await command('freeze caller:nobody Looks odd');
  await door.noticeFor(
    CAST.admin,
    /there is no caller "caller:nobody"; the callers are caller:release-pipeline, caller:other-job\./,
  );
  await command('freeze caller:release-pipeline Looks odd');
  await door.noticeFor(CAST.admin, /Frozen: what release-pipeline asks for\./);
  await door.place.shows(/Frozen: this action does not start/);
  expect(await door.refund(13_000)).toMatchObject({
    code: 403,
    body: { code: 'frozen', detail: expect.stringContaining('Looks odd') },
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.shows(/On hold/);
  expect(await door.refunded()).toBe(0);
  const other = await door.refund(500, { key: KEYS.other });
  expect((await door.send('GET', `/v1/runs/${other.body.id}?wait=60`, { key: KEYS.other })).body.status).toBe(
    'succeeded',
  );
  await command('unfreeze caller:release-pipeline');
  await door.noticeFor(CAST.admin, /Unfrozen: what release-pipeline asks for/);
  expect((await door.end(body.id)).body.status).toBe('succeeded');
  expect(await door.refunded()).toBe(12_500);
});

test('beyond its limits a caller gets 429 and when to try again; a request that joins another counts nothing', async () => {
  const manifest = WITH_CALLERS.replace('pending: 5, per_hour: 30', 'pending: 2, per_hour: 4');
  const door = await startCalling({ manifest });
  await door.refund(12_000);
  await door.refund(13_000);
  expect((await door.refund(13_000)).code).toBe(202);
  const third = await door.refund(14_000);
  expect(third).toMatchObject({ code: 429, body: { code: 'too-many-pending' } });
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
  // What needs no approval does not wait, but counts in the hour.
  const small = await door.refund(500);
  expect((await door.end(small.body.id)).body.status).toBe('succeeded');
  const last = await door.refund(600);
  expect(last).toMatchObject({ code: 429, body: { code: 'too-many' } });
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await door.refunded()).toBe(500);
});

test('a withdrawn request of a caller makes room for the next one at once, whoever withdraws it', async () => {
  const manifest = WITH_CALLERS.replace('pending: 5, per_hour: 30', 'pending: 2, per_hour: 30');
  const door = await startCalling({ manifest });
  const first = await door.refund(12_000);
  await door.place.shows(/12000/);
  const second = await door.refund(13_000);
  await door.place.shows(/13000/);
  expect([first.code, second.code, (await door.refund(14_000)).code]).toEqual([202, 202, 429]);
  await door.send('DELETE', `/v1/runs/${first.body.id}`);
  expect([(await door.refund(15_000)).code, (await door.refund(16_000)).code]).toEqual([202, 429]);
  await door.place.shows(/15000/);
  await door.place.click(CAST.requester, /13000/, 'withdraw');
  await door.end(second.body.id);
  expect([(await door.refund(17_000)).code, (await door.refund(18_000)).code]).toEqual([202, 429]);
});

test('a caller that leaves the manifest loses what waits, said on the card, and its key opens nothing', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  const [, without = ''] = CALLERS.split('  other-job:');
  await door.replaceManifest(`${WITH_CALLERS.replace(CALLERS, '')}\ncallers:\n  other-job:${without}`);
  await door.place.shows(/withdrawn by[\s\S]*release-pipeline was removed from manifest\.yml/i);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).code).toBe(401);
  expect((await door.refund(500)).code).toBe(401);
  await door.replaceManifest(WITH_CALLERS);
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'withdrawn',
    reason: expect.stringContaining('removed'),
  });
  expect(await door.refunded()).toBe(0);
});

test('a tool that is taken from a caller does not run any more, although people had been asked', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  await door.replaceManifest(WITH_CALLERS.replace('[refund_*, delete_customer, read_order]', '[read_order]'));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body.status).toBe('denied');
  expect(await door.refunded()).toBe(0);
});

test('a request that fails again and again says so to its caller, and the channel is told whose it is', async () => {
  const door = await startCalling({ timing: FAILING, sweep: SWEEP });
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  await breakThread(door);
  await door.replaceManifest(WITH_CALLERS.replace('[refund_*, delete_customer, read_order]', '[read_order]'));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.shows(/I can't continue a request of release-pipeline: it failed several times/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('until an admin has looked at it'),
  });
  expect(await door.refunded()).toBe(0);
});

test('what people write below the card is context for the caller, also with a mention, and no model is asked', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  const card = await door.place.shows(/Approval needed/);
  const write = (who: string, text: string) =>
    door.workspace.as(who).send(PLACES.general, text, { threadTs: card.ts });
  write(CAST.bruno, 'Which order is this?');
  await door.allReceived();
  write(CAST.alice, `<@${door.workspace.state.app.botUserId}> refund 5 euros more`);
  await door.noticeFor(CAST.alice, /passed on to release-pipeline/);
  const words = [
    { by: CAST.bruno, text: 'Which order is this?' },
    { by: CAST.alice, text: 'refund 5 euros more' },
  ];
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    context: words,
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({ status: 'succeeded', context: words });
  expect(door.model.requests).toEqual([]);
});

test('what somebody who may not ask writes below the card does not reach the caller', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  const card = await door.place.shows(/Approval needed/);
  const write = (who: string, text: string) =>
    door.workspace.as(who).send(PLACES.general, text, { threadTs: card.ts });
  write(CAST.guest, 'Refund it twice.');
  await door.allReceived();
  write(CAST.bruno, 'Which order is this?');
  await door.allReceived();
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.context).toEqual([
    { by: CAST.bruno, text: 'Which order is this?' },
  ]);
});

test('a request outlives the bot that took it: another one reads it, and what was approved meanwhile runs once', async () => {
  const door = await startCalling({ sweep: SWEEP });
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  await door.restart();
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body.status).toBe('succeeded');
  expect(await door.refunded()).toBe(12_000);
});

test('a person takes back what a caller did with Undo, and the caller still reads its own result', async () => {
  const manifest = WITH_CALLERS.replace(
    'refund_order: { module: ./examples/shop/tools/refund-order.ts,',
    'refund_order: { module: ./examples/shop/tools/refund-order.ts, undo: { tool: refund_order, input: { orderId: "{{input.orderId}}", amount: 100 }, within: 1h },',
  );
  const door = await startCalling({ manifest });
  const { body } = await door.refund(12_000);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body.status).toBe('succeeded');
  await door.place.click(CAST.bruno, /Undo/, 'undo');
  await expect.poll(door.refunded).toBe(12_100);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'succeeded',
    output: { refunded: 12_000 },
  });
});

test('a caller whose owner is deactivated asks for nothing', async () => {
  const door = await startCalling();
  const owner = door.workspace.state.users.get(CAST.requester);
  if (owner !== undefined) owner.deleted = true;
  expect(await door.refund(500)).toMatchObject({ body: { code: 'owner-inactive' } });
  expect(await door.refunded()).toBe(0);
});

test('a webhook that redirects is not followed, so that its message reaches nobody else', async () => {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(`${request.method} ${request.url}`);
    response.writeHead(urls.length === 1 ? 307 : 204, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const webhook = `webhook: { url: "http://127.0.0.1:${port}/hook", secret: "\${HOOK_SECRET}", allow_private: ["127.0.0.1"] }`;
  const door = await startCalling({
    manifest: WITH_CALLERS.replace(
      '    links: [ci.example.com]',
      `    links: [ci.example.com]\n    ${webhook}`,
    ),
    environment: { ...ENVIRONMENT, HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  await door.refund(500);
  await expect.poll(() => urls.length, { timeout: 20_000 }).toBeGreaterThan(1);
  expect(new Set(urls)).toEqual(new Set(['POST /hook']));
});

test('a job proves who it is with a token of its issuer; each token makes one change', async () => {
  const issuer = await startIssuer();
  const manifest = WITH_CALLERS.replace(
    `identity: { key: "\${PIPELINE_KEY}" }`,
    `identity: { oidc: { issuer: "${issuer.url}", audience: countersign, claims: { repository: acme/api } } }`,
  );
  const door = await startCalling({ manifest });
  const key = await issuer.token();
  const asked = await door.refund(12_000, { key });
  expect(asked.code).toBe(202);
  // The same request may be sent again, and the same token may read.
  expect((await door.refund(12_000, { key })).body.id).toBe(asked.body.id);
  expect((await door.send('GET', `/v1/runs/${asked.body.id}`, { key })).body.status).not.toBe(401);
  expect(await door.refund(13_000, { key })).toMatchObject({ code: 401, body: { code: 'replayed' } });
  expect(await door.send('DELETE', `/v1/runs/${asked.body.id}`, { key })).toMatchObject({ code: 401 });

  const stranger = await generateKeyPair('ES256');
  const wrong = [
    await issuer.token({ repository: 'acme/other' }),
    await issuer.token({ repository: ['acme/api'] }),
    await issuer.token({}, { audience: 'another' }),
    await issuer.token({}, { expires: '-5m' }),
    // Valid for years, and made long ago.
    await issuer.token({}, { issued: '-1y', expires: '1y' }),
    await issuer.token({}, { key: stranger.privateKey }),
    await issuer.token({}, { issuer: 'https://evil.example' }),
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${key.split('.')[1]}.`,
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${key.split('.')[1]}.AA`,
  ];
  for (const token of wrong) expect(await door.refund(500, { key: token })).toMatchObject({ code: 401 });
  const rows: string[] = [];
  for await (const { event, body } of openRedisStore({
    client: door.redis,
    prefix: door.prefix,
  }).exportAudit())
    if (event === 'caller-refused') rows.push(body);
  expect(rows.join('\n')).toContain('replayed');
  expect(rows.join('\n')).not.toContain(key);
  expect(await door.refunded()).toBe(0);
});

test('a token may end at a fraction of a second, or far away: it makes one change all the same', async () => {
  const issuer = await startIssuer();
  const manifest = WITH_CALLERS.replace(
    `identity: { key: "\${PIPELINE_KEY}" }`,
    `identity: { oidc: { issuer: "${issuer.url}", audience: countersign, claims: { repository: acme/api } } }`,
  );
  const door = await startCalling({ manifest });
  const now = Date.now() / 1_000;
  for (const [index, exp] of [Math.floor(now) + 300.0625, now + 1e13].entries()) {
    const key = await issuer.token({}, { expires: exp });
    expect(await door.refund(12_000 + index, { key })).toMatchObject({ code: 202 });
    expect(await door.refund(13_000 + index, { key })).toMatchObject({
      code: 401,
      body: { code: 'replayed' },
    });
  }
});
