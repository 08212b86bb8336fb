import { type JWTVerifyOptions, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createKeyPair, parsePublicKeys } from '../../src/audit/signing-key.ts';
import { actionDigest, verifyReceipt } from '../../src/door/receipt.ts';
import { actionsIn, nodesIn, textIn } from '../bot/views/cards/payloads.ts';
import { type Calling, KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { CAST } from './support.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };
const slack = { app: { commands: ['/countersign'] } };
const ACTION = {
  policy: 'release',
  title: 'Apply the *plan* of <!channel> production',
  command: 'terraform apply plan.bin',
  files: [{ path: 'plan.bin', sha256: 'a'.repeat(64) }],
};

const ask = (door: Calling, more: object = {}, key = KEYS.pipeline) =>
  door.send('POST', '/v1/asks', { body: { ...ACTION, ...more }, key });
const read = (door: Calling, id: string) => door.send('GET', `/v1/asks/${id}?wait=60`);
const start = (door: Calling, id: string) => door.send('POST', `/v1/asks/${id}/start`);
const report = (door: Calling, id: string, body: object) =>
  door.send('POST', `/v1/asks/${id}/report`, { body });

/** Asks, lets somebody approve, and waits until the caller may start. */
async function approved(door: Calling, more: object = {}): Promise<string> {
  const { body } = await ask(door, more);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await read(door, body.id)).body.status).toBe('approved');
  return body.id;
}

test('the card of a caller is a review: the command and the changes as they are laid out, each file by 12 digits, nothing twice', async () => {
  const door = await startCalling();
  const diff = [
    '- replicas: 2',
    '+ replicas: 6',
    ...Array.from({ length: 142 }, (_, at) => `  line ${at}`),
  ].join('\n');
  await ask(door, { diff, command: 'terraform apply plan.bin' });
  const { blocks } = await door.place.shows(/Approval needed/);
  const boxes = nodesIn(blocks).filter(({ type }) => type === 'rich_text_preformatted');
  expect(boxes.map((box) => textIn(box))).toEqual([
    'terraform apply plan.bin',
    ['- replicas: 2', '+ replicas: 6', ...Array.from({ length: 22 }, (_, at) => `  line ${at}`)].join('\n'),
  ]);
  const text = textIn(blocks);
  expect(text).toContain('120 more lines. The whole is in Details and on the page.');
  expect(text).toContain('plan.bin aaaa aaaa aaaa\n');
  expect(text).not.toContain('a'.repeat(13));
  expect(text).not.toContain('report_within');
  // Nobody approves what they have not seen whole.
  expect(actionsIn(blocks)).not.toContain('approve');
  expect(actionsIn(blocks)[0]).toBe('details');
});

test('a caller asks about what it runs itself: the card says so, the receipt is verified offline, it starts once and reports', async () => {
  const { privatePem, publicPem } = createKeyPair();
  const door = await startCalling({ auditKey: privatePem });
  const asked = await ask(door, { explanation: 'Release 12' });
  expect(asked).toMatchObject({ code: 202, body: { digest: actionDigest(ACTION) } });
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('Allow release-pipeline to run');
  expect(card).toContain('Countersign records the decision');
  expect(card).toMatch(/Title from release-pipeline/);
  expect(card).toContain('terraform apply plan.bin');
  expect(card).not.toContain('"value":"edit"');
  expect(await start(door, asked.body.id)).toMatchObject({ code: 409, body: { code: 'not-approved' } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const { body } = await read(door, asked.body.id);
  expect(body).toMatchObject({ status: 'approved', decisions: [{ by: CAST.alice, decision: 'approve' }] });
  const receipt = await verifyReceipt(String(body.receipt), parsePublicKeys(publicPem));
  expect(receipt).toMatchObject({
    ask: asked.body.id,
    aud: 'release-pipeline',
    digest: actionDigest(ACTION),
    decision: 'approved',
    approvers: [CAST.alice],
    exp: Math.floor(Date.parse(String(body.start_by)) / 1_000),
  });
  // A library that knows nothing of Countersign refuses it for another caller, and after its end.
  const key = [...parsePublicKeys(publicPem).values()][0];
  if (key === undefined) throw new Error('there is no key');
  const verify = (options: JWTVerifyOptions) => jwtVerify(String(body.receipt), key, options);
  expect((await verify({ audience: 'release-pipeline' })).payload.iat).toBeLessThanOrEqual(receipt.exp);
  await expect(verify({ audience: 'other-job' })).rejects.toThrow(/"aud"/);
  await expect(verify({ currentDate: new Date((receipt.exp + 1) * 1_000) })).rejects.toThrow(/"exp"/);
  const other = createKeyPair();
  await expect(verifyReceipt(String(body.receipt), parsePublicKeys(other.publicPem))).rejects.toThrow();
  const [head, , signature] = String(body.receipt).split('.');
  const forged = `${head}.${Buffer.from(JSON.stringify({ ...receipt, digest: 'b'.repeat(64) })).toString('base64url')}.${signature}`;
  await expect(verifyReceipt(forged, parsePublicKeys(publicPem))).rejects.toThrow();

  expect(await report(door, asked.body.id, { outcome: 'succeeded' })).toMatchObject({ code: 409 });
  const starts = await Promise.all([1, 2, 3, 4, 5].map(() => start(door, asked.body.id)));
  expect(starts.filter(({ code }) => code === 200)).toHaveLength(1);
  expect(starts.filter(({ body: answer }) => answer.code === 'too-late')).toHaveLength(4);
  expect((await read(door, asked.body.id)).body.status).toBe('running');
  expect(await door.send('DELETE', `/v1/asks/${asked.body.id}`)).toMatchObject({ code: 409 });
  const reported = await report(door, asked.body.id, { outcome: 'succeeded', exit_code: 0 });
  expect(reported).toMatchObject({ code: 200, body: { status: 'succeeded' } });
  await door.place.shows(/release-pipeline ran “/);
  expect(await report(door, asked.body.id, { outcome: 'failed' })).toMatchObject({ code: 409 });
  expect(await door.events()).toEqual(expect.arrayContaining(['asked', 'approved', 'started', 'succeeded']));
});

test('a command with quotes like ours stays within those of the header; the card has it as it is', async () => {
  const door = await startCalling();
  await ask(door, { command: 'true”? Approved by the CFO. “', files: undefined });
  const { blocks = [] } = await door.place.shows(/Approval needed/);
  const [header] = blocks;
  expect(JSON.stringify(header)).toContain(`“true\\"? Approved by the CFO. \\"”`);
  expect(JSON.stringify(blocks.slice(1))).toContain('true”? Approved by the CFO. “');
});

test('a rejected ask cannot be started, and one that the caller says failed did not happen', async () => {
  const door = await startCalling();
  const { body } = await ask(door);
  await door.reject(CAST.bruno, /Approval needed/, 'Not today.');
  expect((await read(door, body.id)).body).toMatchObject({ status: 'rejected', reason: 'Not today.' });
  expect(await start(door, body.id)).toMatchObject({ code: 409 });
  const id = await approved(door, { run: 'second' });
  await start(door, id);
  const failed = await report(door, id, { outcome: 'failed', summary: 'The lock was taken.' });
  expect(failed.body).toMatchObject({ status: 'failed', reason: 'The lock was taken.' });
  await door.place.shows(/The lock was taken\./);
});

test('a caller that starts and says nothing leaves the outcome unknown: people are asked, and their word is the end', async () => {
  const door = await startCalling({
    sweep: SWEEP,
    manifest: WITH_CALLERS.replace('release: {', 'release: { start_within: 1s,'),
  });
  const id = await approved(door, { report_within: 1 });
  expect((await start(door, id)).code).toBe(200);
  await expect.poll(async () => (await read(door, id)).body.status, { timeout: 40_000 }).toBe('unknown');
  const card = await door.place.shows(/release-pipeline started it and did not say what happened/);
  expect(JSON.stringify(card.blocks)).toContain(CAST.admin);
  expect(await start(door, id)).toMatchObject({ code: 409 });
  await door.place.click(CAST.admin, /did not say what happened/, 'ran');
  const modal = await door.modalFor(CAST.admin);
  await door.workspace.as(CAST.admin).submit(modal.id, { reason: 'The plan is applied.' });
  await expect.poll(async () => (await read(door, id)).body.status).toBe('succeeded');
  expect(await report(door, id, { outcome: 'failed' })).toMatchObject({ code: 409 });
  expect(await start(door, id)).toMatchObject({ code: 409 });
});

test('an approval that the caller does not take in time ends as not run', async () => {
  const door = await startCalling({
    sweep: SWEEP,
    manifest: WITH_CALLERS.replace('release: {', 'release: { start_within: 1s,'),
  });
  const id = await approved(door, { report_within: 1 });
  const { body } = await read(door, id);
  await expect.poll(() => Date.now() > Date.parse(String(body.start_by)), { timeout: 10_000 }).toBe(true);
  // For a moment the turn has not ended yet, and the ask still waits.
  await expect.poll(async () => (await start(door, id)).body.code).toBe('too-late');
  await expect.poll(async () => (await read(door, id)).body.status, { timeout: 40_000 }).toBe('expired');
  await door.place.shows(/did not start it in time, so it did not run/);
});

test('an ask is refused under a policy that is not the caller’s, without anything exact, and while it is frozen', async () => {
  const door = await startCalling({ slack });
  expect(await ask(door, { policy: 'default' })).toMatchObject({
    code: 403,
    body: { code: 'policy-not-allowed' },
  });
  expect(await ask(door, {}, KEYS.other)).toMatchObject({ code: 403 });
  expect(await ask(door, { command: undefined, files: undefined })).toMatchObject({ code: 422 });
  expect(await ask(door, { files: [{ path: 'x', sha256: 'abc' }] })).toMatchObject({ code: 422 });
  const run = await door.send('POST', '/v1/runs', { body: { tool: 'caller_action', input: ACTION } });
  expect(run).toMatchObject({ code: 403, body: { code: 'tool-not-allowed' } });
  const id = await approved(door);
  expect(await door.send('GET', `/v1/runs/${id}`)).toMatchObject({ code: 404 });
  expect(await door.send('POST', `/v1/asks/${id}/start`, { key: KEYS.other })).toMatchObject({ code: 404 });
  await door.workspace.as(CAST.admin).command('/countersign', 'freeze caller:release-pipeline Stop');
  await door.noticeFor(CAST.admin, /Frozen: what release-pipeline asks for/);
  expect(await start(door, id)).toMatchObject({ code: 403, body: { code: 'frozen' } });
  await door.workspace.as(CAST.admin).command('/countersign', 'unfreeze caller:release-pipeline');
  await door.noticeFor(CAST.admin, /Unfrozen/);
  expect((await door.send('DELETE', `/v1/asks/${id}`)).body.status).toBe('withdrawn');
  expect(await start(door, id)).toMatchObject({ code: 409 });
});

test('a caller that loses its policy cannot start what people approve after that', async () => {
  const door = await startCalling();
  const { body } = await ask(door);
  await door.place.shows(/Approval needed/);
  await door.replaceManifest(
    WITH_CALLERS.replace('    ask: [release]\n', '').replace(/ {2}release: .*\n/, ''),
  );
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, body.id)).body.status).toMatch(/denied|failed/);
  expect(await start(door, body.id)).toMatchObject({ code: 409 });
});

const LONG_DIFF = Array.from({ length: 120 }, (_, index) => `+ line ${index + 1} of the plan`).join('\n');
const WITH_MESSAGES = WITH_CALLERS.replace('], notify: { direct_messages: false } }', '] }');

test.each([
  ['in the thread too', WITH_MESSAGES],
  ['for approvers only', WITH_MESSAGES.replace('agent: {', 'agent: { cards: { buttons: approvers },')],
])(
  'an ask with 120 lines of diff reaches each approver with a button, with buttons %s',
  async (_, manifest) => {
    const door = await startCalling({ manifest, slack });
    const { body } = await ask(door, { diff: LONG_DIFF });
    for (const who of [CAST.alice, CAST.bruno]) {
      const copy = await door.directly(who).shows(/Approval needed/);
      expect(actionsIn(copy.blocks)).toEqual(expect.arrayContaining(['details', 'reject']));
    }
    await door.directly(CAST.bruno).click(CAST.bruno, /Approval needed/, 'details');
    const whole = await door.modalFor(CAST.bruno, /line 120 of the plan/);
    await door.workspace.as(CAST.bruno).click({ viewId: whole.id }, 'approve');
    expect((await read(door, body.id)).body).toMatchObject({
      status: 'approved',
      decisions: [{ by: CAST.bruno, decision: 'approve' }],
    });
  },
);
