import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const refund = (orderId: string, amount = 12_000) => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason: '' } }],
});
const manifest = (policy: string, others = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], ${policy} }
${others}
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: [{ policy: default, when: "input.amount > 10000" }, { policy: ${others === '' ? 'default' : 'mine'} }]
`;

test('an approver for whom enough waits is not told of more: the next one is, then the escalation at once; nobody loses the right to approve', async () => {
  const mine = `  mine: { approvers: [${alice}] }`;
  const story = await startStory({
    manifest: manifest(`notify: { load: { waiting: 1 } }, escalate: { after: 20h, to: [${admin}] }`, mine),
    sweep: { everyMs: 50, overdueMs: 0 },
    replies: [refund('A-1001', 500), refund('A-1002'), refund('A-1003'), { text: 'Refunded.' }],
  });
  const told = (who: string) => story.workspace.messagesIn(story.workspace.directMessages(who)).length;
  story.ask('refund a little', { as: bruno });
  await story.directly(alice).shows(/Approval needed/);
  const second = story.ask('refund the second order', { as: admin });
  await story.directly(bruno).shows(/Approval needed/);
  const third = story.ask('refund the third order');
  await third.shows(/Escalated right away because the approvers already have too many requests waiting: /);
  await story.directly(admin).shows(/Approval needed/);
  expect([told(alice), told(bruno), told(admin)]).toEqual([1, 1, 1]);
  await second.click(alice, /Approval needed/, 'approve');
  await second.shows(/Refunded\./);
});

test('who fills the approvers with requests of their own does not bring the escalation forward: everybody is told, and nobody else may approve yet', async () => {
  const story = await startStory({
    manifest: manifest(`notify: { load: { waiting: 1 } }, escalate: { after: 20h, to: [${admin}] }`),
    sweep: { everyMs: 50, overdueMs: 0 },
    replies: [refund('A-1001'), refund('A-1002')],
  });
  const told = (who: string) => story.workspace.messagesIn(story.workspace.directMessages(who)).length;
  await story.ask('refund the first order').shows(/Approval needed/);
  await story.directly(bruno).shows(/Approval needed/);
  const second = story.ask('refund the second order');
  await second.shows(/Approval needed/);
  await story.workspace.until(() => told(alice) + told(bruno) === 4, { what: 'everybody told' });
  await story.deliveredAll();
  expect(told(admin)).toBe(0);
  await second.click(admin, /Approval needed/, 'approve');
  await story.noticeFor(admin, /can approve this/);
});

test('of one other person one waiting request counts, so who floods the approvers brings nobody’s escalation forward', async () => {
  const story = await startStory({
    manifest: manifest(`notify: { load: { waiting: 2 } }, escalate: { after: 20h, to: [${admin}] }`),
    sweep: { everyMs: 50, overdueMs: 0 },
    replies: [refund('A-1001'), refund('A-1002'), refund('A-1003')],
  });
  const told = (who: string) => story.workspace.messagesIn(story.workspace.directMessages(who)).length;
  for (const [index, text] of ['the first', 'the second'].entries()) {
    await story.ask(`refund ${text} order`, { as: admin }).shows(/Approval needed/);
    await story.workspace.until(() => told(alice) + told(bruno) === 2 * (index + 1), { what: 'both told' });
  }
  await story.ask('refund the third order').shows(/Approval needed/);
  await story.workspace.until(() => told(alice) + told(bruno) === 6, { what: 'everybody told' });
  await story.deliveredAll();
  expect(told(admin)).toBe(0);
});

test('nobody approves more in an hour than the policy says, also with two clicks at once; rejecting is always possible', async () => {
  const story = await startStory({
    manifest: manifest('notify: { load: { approvals_per_hour: 1 }, direct_messages: false }'),
    replies: [
      refund('A-1001'),
      refund('A-1001'),
      { text: 'One is refunded.' },
      { text: 'The other is not.' },
    ],
  });
  const first = story.ask('refund the first order');
  await first.shows(/Approval needed/);
  const second = story.ask('refund the second order');
  await second.shows(/Approval needed/);
  await Promise.all([
    first.click(alice, /Approval needed/, 'approve'),
    second.click(alice, /Approval needed/, 'approve'),
  ]);
  await story.noticeFor(alice, /You've approved 1 request in the last hour/);
  const isDone = ({ channel, ts }: typeof first) =>
    story.workspace.messagesIn(channel, ts).some(({ text }) => text.includes('One is refunded'));
  await story.workspace.until(() => isDone(first) || isDone(second), { what: 'one refund' });
  const left = isDone(first) ? second : first;
  await left.click(alice, /Approval needed/, 'approve');
  await story.workspace.until(
    () =>
      story.workspace.ephemeralsFor(alice).filter(({ text }) => text.includes('in the last hour')).length > 1,
    { what: 'the second refusal' },
  );
  await left.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice, /You're about to reject/);
  await story.workspace.as(alice).submit(modal.id, { reason: 'Enough.' });
  await left.shows(/The other is not\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});
