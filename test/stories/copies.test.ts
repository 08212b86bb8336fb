import { expect, onTestFinished, test } from 'vitest';
import { nonEmpty } from '../support/non-empty.ts';
import { CAST, PLACES, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { announce: [${PLACES.releases}] }${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

/** The places beside the thread where the card stands, with the card as it is there now. */
async function copiesOf(story: Awaited<ReturnType<typeof startStory>>, words: RegExp) {
  const places = [story.directly(CAST.alice), story.directly(CAST.bruno), story.placeIn(PLACES.releases)];
  return Promise.all(places.map((place) => place.shows(words)));
}

test('approvers get the card itself with a link to the thread, the channel of the policy has it too, and all copies change together', async () => {
  const story = await startStory({
    manifest: manifest(', quorum: 2'),
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  const first = await copiesOf(
    story,
    /Approval needed[\s\S]*12000[\s\S]*Needs 2 approvals[\s\S]*Open the thread/,
  );
  // Once the card in the thread stands, the link leads to it, and before to the root.
  const link = new RegExp(`/p${thread.ts.replace('.', '')}|thread_ts=${thread.ts}`);
  for (const card of nonEmpty(first)) expect(JSON.stringify(card.blocks)).toMatch(link);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.requester))).toEqual([]);

  await story.directly(CAST.bruno).click(CAST.bruno, /Approval needed/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  await copiesOf(story, /1 of 2 approvals/);
  await story.placeIn(PLACES.releases).click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await thread.shows(/Done: Refund order/);
  const last = await copiesOf(story, /Done: Refund order/);
  expect(last.map(({ ts }) => ts)).toEqual(first.map(({ ts }) => ts));
  for (const card of nonEmpty(last)) expect(JSON.stringify(card.blocks)).not.toContain('"approve"');
  // In direct messages one line is left, and what was done is in the thread.
  for (const { blocks } of nonEmpty(last.slice(0, 2))) {
    expect(blocks).toHaveLength(1);
    expect(JSON.stringify(blocks)).toMatch(/✅ Done: .*Refund order.*approved by.*Open the thread/);
  }
});

test('a rejection from a direct message settles every copy and reaches the model with its reason', async () => {
  const story = await startStory({
    manifest: manifest(''),
    replies: [{ calls: [refund] }, { text: 'Not then.' }],
  });
  const thread = story.ask('refund order A-1001');
  await story.directly(CAST.alice).click(CAST.alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(CAST.alice);
  await story.workspace.as(CAST.alice).submit(modal.id, { reason: 'The lamp is fine.' });

  await thread.shows(/Not then\./);
  const [copy] = await copiesOf(story, /Rejected: Refund order/);
  expect(copy?.blocks).toHaveLength(1);
  await story.placeIn(PLACES.releases).shows(/The lamp is fine\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/denied.*The lamp is fine/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('who is not asked cannot sign on the copy in the channel', async () => {
  const story = await startStory({ manifest: manifest(''), replies: [{ calls: [refund] }] });
  story.ask('refund order A-1001');
  await story.placeIn(PLACES.releases).click(CAST.requester, /Approval needed/, 'approve');
  await story.noticeFor(CAST.requester, /can approve this|someone else/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('a long action says on the card how far it is, and the requester sees what came of it', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('before');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('paint_part')] }, { text: 'Painted.' }],
    timing: { heartbeatMs: 50, progressMs: 50 },
  });
  onTestFinished(() => workshop.release('before'));
  const thread = story.ask('paint the part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  const running = await thread.shows(/Running[\s\S]*the first coat is on \(50 %\)/);
  await workshop.release('before');
  await thread.shows(/Painted\./);
  const settled = await thread.shows(/Done: Paint part/);
  expect(settled.ts).toBe(running.ts);
  expect(JSON.stringify(settled.blocks)).not.toContain('first coat');
});

test('the copy of a request from somebody’s direct messages has no link to them: nobody else can open them', async () => {
  const story = await startStory({ manifest: manifest(''), replies: [{ calls: [refund] }] });
  const channel = story.workspace.directMessages(CAST.requester);
  story.workspace.as(CAST.requester).send(channel, 'refund order A-1001');
  for (const card of nonEmpty(await copiesOf(story, /Approval needed/)))
    expect(JSON.stringify(card.blocks)).not.toContain('Open the thread');
});

test('a copy in direct messages keeps one line when its request ended without its approver', async () => {
  const story = await startStory({
    manifest: manifest(''),
    replies: [{ calls: [refund] }, { text: 'Withdrawn.' }],
  });
  const thread = story.ask('refund order A-1001');
  await copiesOf(story, /Approval needed/);
  await thread.click(CAST.requester, /Approval needed/, 'withdraw');
  const copy = await story.directly(CAST.alice).shows(/^Withdrawn: /);
  expect(copy.blocks).toHaveLength(1);
  expect(JSON.stringify(copy.blocks)).toMatch(/Withdrawn: .*Refund order.*Open the thread/);
  await thread.shows(/Withdrawn\./);
});
