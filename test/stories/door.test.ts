import { expect, test } from 'vitest';
import { KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { CAST, PLACES } from './support.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };

test('a caller asks, people approve on a card that names it and its owner, and it reads the result', async () => {
  const door = await startCalling();
  const asked = await door.refund(12_000, {
    more: { explanation: 'Order arrived broken', link: 'https://ci.example.com/runs/7' },
  });
  expect(asked.code).toBe(202);
  expect(asked.headers.get('location')).toBe(`/v1/runs/${asked.body.id}`);
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toMatch(/release-pipeline.* for .*U0REMI0001/);
  expect(card).toMatch(/Explanation from release-pipeline \(unverified\).*Order arrived broken/);
  expect(card).toContain('"url":"https://ci.example.com/runs/7"');
  expect((await door.send('GET', `/v1/runs/${asked.body.id}`)).body).toMatchObject({
    status: 'waiting',
    tool: 'refund_order',
    decisions: [],
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const { code, body } = await door.end(asked.body.id);
  expect(code).toBe(200);
  expect(body).toMatchObject({
    status: 'succeeded',
    input: { orderId: 'A-1001', amount: 12_000 },
    output: { orderId: 'A-1001', refunded: 12_000, total: 12_000 },
    decisions: [{ by: CAST.alice, decision: 'approve' }],
  });
  expect(await door.refunded()).toBe(12_000);
  expect(await door.events()).toEqual(expect.arrayContaining(['asked', 'approved', 'started', 'succeeded']));
  await door.place.shows(/asked by .*release-pipeline/);
});

test('a call that needs no approval runs at once, and one that a rule allows nobody does not', async () => {
  const door = await startCalling();
  const small = await door.refund(500);
  expect((await door.end(small.body.id)).body).toMatchObject({ status: 'succeeded', decisions: [] });
  const read = await door.send('POST', '/v1/runs', {
    body: { tool: 'read_order', input: { orderId: 'A-1001' } },
  });
  expect((await door.end(read.body.id)).body).toMatchObject({
    status: 'succeeded',
    output: { refunded: 500 },
  });
  const missing = await door.send('POST', '/v1/runs', {
    body: { tool: 'read_order', input: { orderId: 'X' } },
  });
  expect((await door.end(missing.body.id)).body).toMatchObject({
    status: 'failed',
    reason: 'There is no order X',
  });
  expect(door.workspace.messagesIn(PLACES.general)).toEqual([]);
});

test('a rejection ends it with the words of the person, and nothing runs', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  await door.reject(CAST.bruno, /Approval needed/, 'Too much.');
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'rejected',
    reason: 'Too much.',
    decisions: [{ by: CAST.bruno, decision: 'reject' }],
  });
  expect(await door.refunded()).toBe(0);
});

test('the owner cannot approve what the caller asks for', async () => {
  const manifest = WITH_CALLERS.replace(
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}],`,
    `default: { approvers: [${CAST.requester}, ${CAST.alice}],`,
  );
  const door = await startCalling({ manifest });
  const { body } = await door.refund(12_000);
  await door.place.click(CAST.requester, /Approval needed/, 'approve');
  await door.noticeFor(CAST.requester, /You took part in requesting this/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body.status).toBe('succeeded');
});

test('two people approve where the policy asks for two', async () => {
  const door = await startCalling();
  const { body } = await door.send('POST', '/v1/runs', {
    body: { tool: 'delete_customer', input: { customer: 'Hooper Ltd' } },
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.shows(/1 of 2 approvals/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    decisions: [{ by: CAST.alice }],
  });
  await door.place.click(CAST.bruno, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'succeeded',
    decisions: [{ by: CAST.alice }, { by: CAST.bruno }],
  });
});

test('an edited call runs with the new input, which the caller reads with who edited it', async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  await door.place.click(CAST.bruno, /Approval needed/, 'edit');
  const modal = await door.modalFor(CAST.bruno);
  await door.workspace.as(CAST.bruno).submit(modal.id, { 'field-1': '11000' });
  await door.place.shows(/11000[\s\S]*edited by/i);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'succeeded',
    input: { amount: 11_000 },
    edited_by: CAST.bruno,
  });
  expect(await door.refunded()).toBe(11_000);
});

test('a request that nobody decides expires, and the caller is told', async () => {
  const manifest = WITH_CALLERS.replace('default: {', 'default: { expires: 1s,');
  const door = await startCalling({ manifest, sweep: SWEEP });
  const { body } = await door.refund(12_000);
  expect((await door.end(body.id)).body.status).toBe('expired');
  const card = await door.place.shows(/Expired/);
  // Only the caller itself can ask again.
  expect(JSON.stringify(card.blocks)).not.toContain('ask-again');
});

test('the caller or its owner withdraws a request, once it has not started', async () => {
  const door = await startCalling();
  const { body: first } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  expect(await door.send('DELETE', `/v1/runs/${first.id}`)).toMatchObject({
    code: 200,
    body: { status: 'withdrawn' },
  });
  await door.place.shows(/withdrawn by .*release-pipeline/i);
  expect((await door.send('DELETE', `/v1/runs/${first.id}`)).code).toBe(200);
  const { body: second } = await door.refund(13_000);
  expect(second.id).not.toBe(first.id);
  await door.place.click(CAST.requester, /13000[\s\S]*/, 'withdraw');
  expect((await door.end(second.id)).body.status).toBe('withdrawn');
  const { body: third } = await door.refund(500);
  await door.end(third.id);
  expect(await door.send('DELETE', `/v1/runs/${third.id}`)).toMatchObject({
    code: 409,
    body: { code: 'too-late' },
  });
});

test('the same call joins the one that waits, the same key is the same request, and a key for another call is refused', async () => {
  const door = await startCalling();
  const headers = { 'idempotency-key': 'job-1' };
  const [one, two, three] = await Promise.all([
    door.refund(12_000),
    door.refund(12_000),
    door.refund(12_000, { headers }),
  ]);
  expect(new Set([one.body.id, two.body.id, three.body.id]).size).toBe(1);
  expect(await door.refund(13_000, { headers })).toMatchObject({ code: 422, body: { code: 'key-reused' } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.end(one.body.id);
  // The key still names it, and without the key it is a new request.
  const again = await door.refund(12_000, { headers });
  expect(again).toMatchObject({ code: 200, body: { id: one.body.id, status: 'succeeded' } });
  expect((await door.refund(12_000)).body.id).not.toBe(one.body.id);
  expect(await door.refunded()).toBe(12_000);
});

test('a key whose request is no longer kept is refused, and nothing runs again', async () => {
  const door = await startCalling();
  const headers = { 'idempotency-key': 'job-1' };
  const { body } = await door.refund(500, { headers });
  await door.end(body.id);
  const [key = ''] = await door.redis.keys(`{${door.prefix}}:document:door-key|*`);
  const [, digest = ''] = ((await door.redis.get(key)) ?? '').split('\n');
  // The same request, made a year ago.
  const time = (Date.now() - 365 * 86_400_000).toString(16).padStart(12, '0');
  const old = body.id.replace(/-[0-9a-f]{12}/, `-${time}`);
  await door.redis.set(key, `${old}\n${digest}`);
  expect(await door.refund(500, { headers })).toMatchObject({ code: 410, body: { code: 'gone' } });
  expect(await door.refunded()).toBe(500);
});

test("another caller's request is not found, whatever is asked of it", async () => {
  const door = await startCalling();
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  const key = KEYS.other;
  for (const method of ['GET', 'DELETE'])
    expect(await door.send(method, `/v1/runs/${body.id}`, { key })).toMatchObject({
      code: 404,
      body: { code: 'not-found' },
    });
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
});

test('a tool outside its list, an input that does not fit and a link elsewhere are refused, and no card is posted', async () => {
  const door = await startCalling();
  const run = (body: object, key = KEYS.pipeline) => door.send('POST', '/v1/runs', { body, key });
  const remove = { tool: 'delete_customer', input: { customer: 'Hooper Ltd' } };
  expect(await run(remove, KEYS.other)).toMatchObject({ code: 403, body: { code: 'tool-not-allowed' } });
  for (const tool of ['no_such_tool', 'ask_question', 'apply_manifest'])
    expect(await run({ tool, input: {} })).toMatchObject({ code: 403, body: { code: 'tool-not-allowed' } });
  expect(await run({ tool: 'refund_order', input: { orderId: 'A-1001', amount: 'much' } })).toMatchObject({
    code: 422,
    body: { code: 'unfit', detail: expect.stringContaining('amount') },
  });
  expect(await door.refund(12_000, { more: { link: 'https://evil.example/x' } })).toMatchObject({
    code: 422,
  });
  expect(await door.refund(12_000, { more: { link: 'https://ci.example.com@evil.example/' } })).toMatchObject(
    {
      code: 422,
    },
  );
  const { body } = await door.send('GET', '/v1/tools', { key: KEYS.other });
  expect(body).toMatchObject({ tools: [{ name: 'refund_order', input_schema: { type: 'object' } }] });
  expect(door.workspace.messagesIn(PLACES.general)).toEqual([]);
});

test('an address with a backslash before an "@" is sent as every parser reads it', async () => {
  const door = await startCalling();
  const asked = await door.refund(12_000, { more: { link: 'https://ci.example.com\\@evil.example/run' } });
  expect(asked.code).toBe(202);
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('"url":"https://ci.example.com/@evil.example/run"');
  expect(card).not.toContain('ci.example.com\\');
});

test('what waits because of a limit counts among the pending requests of its caller', async () => {
  const manifest = `${WITH_CALLERS.replace('pending: 5', 'pending: 1')}limits:
  refund_order: { per: requester, window: 1d, max: 1, policy: default }
`;
  const door = await startCalling({ manifest });
  const first = await door.refund(500);
  expect((await door.end(first.body.id)).body.status).toBe('succeeded');
  expect((await door.refund(600)).code).toBe(202);
  await door.place.shows(/Approval needed/);
  expect(await door.refund(700)).toMatchObject({ code: 429, body: { code: 'too-many-pending' } });
  // What surely asks nobody is not kept waiting.
  const read = { tool: 'read_order', input: { orderId: 'A-1001' } };
  expect((await door.send('POST', '/v1/runs', { body: read })).code).toBeLessThan(300);
  await door.reject(CAST.bruno, /Approval needed/, 'Not today.');
});
