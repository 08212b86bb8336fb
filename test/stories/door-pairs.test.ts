import { expect, test } from 'vitest';
import { type Calling, KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { slack as DELEGATING, DORA, delegate } from './delegating.ts';
import { CAST, type Thread } from './support.ts';

const GRANTS = '{ for: 2h, uses: 2, scope: requester, when: "input.amount <= 20000" }';
const withPolicy = (more: string) => WITH_CALLERS.replace('  default: {', `  default: { ${more},`);
const commands = { app: { commands: ['/countersign'] } };
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount } }],
});

/** Approves the card that is open in a place, and allows the same again. */
async function allow(door: Calling, place: Pick<Thread, 'click'>, forWhom: string): Promise<void> {
  await place.click(CAST.alice, /Approval needed/, 'approve-grant');
  const modal = await door.modalFor(CAST.alice, new RegExp(`without asking anyone.* for ${forWhom}`, 's'));
  await door.workspace.as(CAST.alice).submit(modal.id, {});
}

test('a grant for a person does not cover what their caller asks for', async () => {
  const door = await startCalling({
    manifest: withPolicy(`grants: ${GRANTS}`),
    slack: commands,
    replies: [refund(12_000), { text: 'One.' }, refund(13_000), { text: 'Two.' }],
  });
  const first = door.ask('refund 120');
  await first.shows(/Approval needed/);
  await allow(door, first, 'the same people in any thread');
  await first.shows(/One\./);
  const { body } = await door.refund(14_000);
  await door.place.shows(/Approval needed[\s\S]*14000/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
  // The person has it still.
  const second = door.ask('refund 130');
  await second.shows(/Two\./);
  expect(await door.refunded()).toBe(25_000);
});

test('a grant for a caller covers its own further calls within the terms, and nobody else, not even its owner', async () => {
  const door = await startCalling({
    manifest: withPolicy(`grants: ${GRANTS}`),
    slack: commands,
    replies: [refund(15_000)],
  });
  const first = await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  await allow(door, door.place, 'release-pipeline only');
  expect((await door.end(first.body.id)).body.status).toBe('succeeded');

  const other = await door.refund(13_000, { key: KEYS.other });
  await door.place.shows(/Approval needed[\s\S]*other-job/);
  expect(other.body.status).not.toBe('succeeded');
  const owner = door.ask('refund 150');
  await owner.shows(/Approval needed/);
  expect(await door.refunded()).toBe(12_000);

  const second = await door.refund(14_000);
  expect((await door.end(second.body.id)).body).toMatchObject({ status: 'succeeded', decisions: [] });
  await door.place.shows(/pre-approved by <@\w+> \(1 of 2\)/);
  const beyond = await door.refund(21_000);
  await door.place.shows(/Approval needed[\s\S]*21000/);
  expect((await door.send('GET', `/v1/runs/${beyond.body.id}`)).body.status).toBe('waiting');
  const third = await door.refund(16_000);
  expect((await door.end(third.body.id)).body.status).toBe('succeeded');
  const last = await door.refund(17_000);
  await door.place.shows(/Approval needed[\s\S]*17000/);
  expect((await door.send('GET', `/v1/runs/${last.body.id}`)).body.status).toBe('waiting');
  expect(await door.refunded()).toBe(42_000);
});

test('a grant for one thread is not offered to a caller, each of whose requests is a thread; nor for what it runs itself', async () => {
  const door = await startCalling({
    manifest: withPolicy('grants: { for: 2h, uses: 2 }').replace(
      '  release: {',
      `  release: { grants: ${GRANTS},`,
    ),
  });
  await door.refund(12_000);
  const card = await door.place.shows(/Approval needed/);
  expect(JSON.stringify(card.blocks)).not.toContain('approve-grant');
  await door.send('POST', '/v1/asks', { body: { policy: 'release', title: 'Release', command: 'make' } });
  const asked = await door.place.shows(/own machine/);
  expect(JSON.stringify(asked.blocks)).not.toContain('approve-grant');
});

test('who decides in the place of an approver may approve what a caller asks for, unless they own it', async () => {
  const manifest = WITH_CALLERS.replace(
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}],`,
    `default: { approvers: [${CAST.alice}], delegation: true,`,
  );
  const door = await startCalling({ manifest, slack: { ...DELEGATING, ...commands } });
  await delegate(door, CAST.alice, CAST.requester);
  const { body } = await door.refund(12_000);
  await door.place.click(CAST.requester, /Approval needed/, 'approve');
  await door.noticeFor(CAST.requester, /You took part in requesting this/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
  await delegate(door, CAST.alice, DORA);
  await door.place.click(DORA, /Approval needed/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'succeeded',
    decisions: [{ by: DORA, decision: 'approve' }],
  });
  await door.place.shows(/pproved by [\s\S]*U0DORA0007[\s\S]* for [\s\S]*U0ALICE002/);
});

test('a preview that changes between approval and start asks people again, and the caller waits on', async () => {
  const preview = `preview: { tool: read_order, input: { orderId: "{{input.orderId}}" }, before: "So far {{output.refunded}}", after: "Then {{input.amount}} more" },`;
  const door = await startCalling({
    manifest: WITH_CALLERS.replace(
      'refund_order: { module: ./examples/shop/tools/refund-order.ts,',
      `refund_order: { module: ./examples/shop/tools/refund-order.ts, ${preview}`,
    ),
  });
  const { body } = await door.refund(12_000);
  await door.place.shows(/Approval needed[\s\S]*So far 0/);
  await door.ledger.refund('A-1001', 500, 'another-refund');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.shows(/Approval needed[\s\S]*has changed since it was approved[\s\S]*So far 500/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body.status).toBe('waiting');
  expect(await door.refunded()).toBe(500);
  await door.place.click(CAST.alice, /has changed since it was approved/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({ status: 'succeeded', output: { refunded: 12_000 } });
  expect(await door.refunded()).toBe(12_500);
});
