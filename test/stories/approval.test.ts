import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { clickCard } from '../support/click-card.ts';
import { CAST, callArguments, MANIFEST, type Story, startStory } from './support.ts';

const refund = (amount: number, more: { orderId?: string; reason?: string } = {}) => ({
  name: 'refund_order',
  arguments: { orderId: 'A-1001', amount, ...more },
});
const deleteCustomer = { name: 'delete_customer', arguments: { customer: 'Hooper Ltd' } };

const refunded = async (story: Story, orderId = 'A-1001') => (await story.ledger.order(orderId))?.refunded;

async function reject(story: Story, who: string, thread: ReturnType<Story['ask']>, words: RegExp) {
  await thread.click(who, words, 'reject');
  const modal = await story.modalFor(who, /You're about to reject/);
  await story.workspace.as(who).submit(modal.id, { reason: 'Too much.' });
}

test('a rejection keeps its reason on the card and for the model, and nothing runs', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'As you wish.' }] });
  const thread = story.ask('refund order A-1001');
  await reject(story, CAST.bruno, thread, /Approval needed/);
  await thread.shows(/As you wish\./);
  const card = await thread.shows(/Rejected: Refund order/);
  expect(JSON.stringify(card.blocks)).toMatch(/rejected by .*U0BRUNO003.*Too much\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/denied.*Too much\./)]);
  expect(await refunded(story)).toBe(0);
  // The card says it all: no notice beside it, and no row of a denial beside the rejection's.
  await story.deliveredAll();
  expect(story.repliesIn(thread).map(({ text }) => text)).toEqual([
    'Rejected: Refund order A-1001: amount 12000',
    'As you wish.',
  ]);
  const events: string[] = [];
  for await (const { event } of openRedisStore({ client: story.redis, prefix: story.prefix }).exportAudit())
    events.push(event);
  expect(events).toContain('rejected');
  expect(events).not.toContain('denied');
});

test('a rejection without a reason is not taken', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Approval needed/, 'reject');
  const modal = await story.modalFor(CAST.bruno);
  expect(await story.workspace.as(CAST.bruno).submit(modal.id, { reason: '   ' })).toMatchObject({
    kind: 'errors',
    errors: { reason: 'Please give a reason.' },
  });
  await thread.shows(/Approval needed/);
});

test('an edited action is asked for anew, and runs once with the new arguments, which the model sees', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'A smaller one.' }] });
  const thread = story.ask('refund order A-1001');
  const first = await thread.shows(/Approval needed/);
  await thread.click(CAST.bruno, /Approval needed/, 'edit');
  const modal = await story.modalFor(CAST.bruno);
  await story.workspace.as(CAST.bruno).submit(modal.id, { 'field-1': '11000' });

  await story.workspace.until(() => JSON.stringify(first.blocks).includes('replaced by'), {
    what: 'the superseded card',
  });
  const second = await thread.shows(/Approval needed[\s\S]*11000/);
  expect(second.ts).not.toBe(first.ts);
  expect(JSON.stringify(second.blocks)).toMatch(/Amount[^\]]*12000[^\]]*strike[^\]]*11000/);
  expect(await refunded(story)).toBe(0);

  await story.workspace.as(CAST.alice).click(first, 'approve', { force: true });
  await story.noticeFor(CAST.alice, /already replaced/);
  await clickCard(story.workspace, CAST.alice, second, 'details');
  const details = await story.modalFor(CAST.alice, /before the edit/);
  expect(JSON.stringify(details.blocks)).toContain('12000');
  await story.workspace.as(CAST.alice).click({ viewId: details.id }, 'approve');
  await thread.shows(/A smaller one\./);
  expect(await refunded(story)).toBe(11_000);
  expect(callArguments(story.model)).toEqual([{ orderId: 'A-1001', amount: 11_000, reason: '' }]);
});

test('an edit is made and shown in the units of the card: who edited it, and only what has changed', async () => {
  const titled = MANIFEST.replace(
    'refund-order.ts, ',
    `refund-order.ts, title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}", `,
  );
  const story = await startStory({ manifest: titled, replies: [{ calls: [refund(15_000)] }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.bruno, /Refund \$150\.00/, 'edit');
  const modal = await story.modalFor(CAST.bruno, /"initial_value":"150\.00"/);
  const person = story.workspace.as(CAST.bruno);
  expect(await person.submit(modal.id, { 'field-1': 'half' })).toMatchObject({
    errors: { 'field-1': 'Amount: Enter an amount in USD, such as 150.00.' },
  });
  expect(await person.submit(modal.id, {})).toMatchObject({
    errors: { 'field-0': "You haven't changed anything." },
  });
  await person.submit(modal.id, { 'field-1': '110' });
  const card = await thread.shows(/Refund \$110\.00/);
  const shown = JSON.stringify(card.blocks);
  expect(shown).toMatch(new RegExp(`asked by <@${CAST.requester}> · edited by <@${CAST.bruno}>`));
  expect(shown).toMatch(
    /Amount[^\]]*\$150\.00","style":\{"strike":true\}[^\]]*→[^\]]*\$110\.00","style":\{"bold":true\}/,
  );
  expect(shown.match(/"strike":true/g)).toHaveLength(1);
});

test('whoever edits an action cannot make it run unsigned, however small it has become', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.requester, /Approval needed/, 'edit');
  const modal = await story.modalFor(CAST.requester);
  await story.workspace.as(CAST.requester).submit(modal.id, { 'field-1': '5' });
  await thread.shows(/Approval needed[\s\S]*edited by[\s\S]*\b5\b/);
  expect(await refunded(story)).toBe(0);
});

test('one person counts once, however often they click, and a second one completes the quorum', async () => {
  const story = await startStory({ replies: [{ calls: [deleteCustomer] }, { text: 'They are gone.' }] });
  const thread = story.ask('delete Hooper Ltd');
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await thread.click(CAST.alice, /1 of 2 approvals/, 'approve');
  await story.noticeFor(CAST.alice, /already approved/);
  await thread.shows(/1 of 2 approvals/);
  expect(await story.ledger.order('A-1001')).toBeDefined();

  await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/They are gone\./);
  expect(await story.ledger.order('A-1001')).toBeUndefined();
  const card = await thread.shows(/Done: Delete customer/);
  expect(JSON.stringify(card.blocks)).toMatch(/approved by .*U0ALICE002.*U0BRUNO003/);
});

test('one rejection ends it, also after an approval', async () => {
  const story = await startStory({ replies: [{ calls: [deleteCustomer] }, { text: 'They stay.' }] });
  const thread = story.ask('delete Hooper Ltd');
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await reject(story, CAST.bruno, thread, /1 of 2 approvals/);
  await thread.shows(/They stay\./);
  expect(await story.ledger.order('A-1001')).toBeDefined();
  const card = await thread.shows(/Rejected: Delete customer/);
  expect(JSON.stringify(card.blocks)).toMatch(/approved by .*U0ALICE002.*rejected by .*U0BRUNO003/);
  await story.workspace.as(CAST.alice).click(card, 'approve', { force: true });
  await story.noticeFor(CAST.alice, /already rejected, by <@U0BRUNO003>/);
});

test('arguments that do not fit the card are approved only in the full view', async () => {
  const reason = Array.from({ length: 600 }, (_, index) => `reason ${index} `.padEnd(10, '.')).join('');
  const story = await startStory({
    replies: [{ calls: [refund(12_000, { reason })] }, { text: 'Refunded at length.' }],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Review all to approve/);
  expect(reason.length).toBeGreaterThanOrEqual(6_000);
  expect(JSON.stringify(card.blocks)).not.toContain('"action_id":"approve"');

  const alice = story.workspace.as(CAST.alice);
  await alice.click(card, 'details');
  let view = await story.modalFor(CAST.alice);
  let seen = JSON.stringify(view.blocks);
  while (!JSON.stringify(view.blocks).includes('"action_id":"approve"')) {
    const { hash } = view;
    await alice.click({ viewId: view.id }, 'next-page');
    view = await story.workspace.until(
      () => {
        const modal = story.workspace.modalOf(CAST.alice);
        return modal?.hash === hash ? undefined : modal;
      },
      { what: 'the next page' },
    );
    seen += JSON.stringify(view.blocks);
  }
  expect(seen).toContain('reason 599');
  await alice.click({ viewId: view.id }, 'approve');
  await thread.shows(/Refunded at length\./);
  expect(await refunded(story)).toBe(12_000);
  await story.modalFor(CAST.alice, /· (Approved|Running|Done)/);
});

test('of two approvals and a plain call, what is approved runs at once, and the model gets three results in order', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace('policy: two', 'policy: default'),
    replies: [
      {
        calls: [
          refund(12_000),
          { name: 'read_order', arguments: { orderId: 'A-1003' } },
          { name: 'delete_customer', arguments: { customer: 'Tomo Arai' } },
        ],
      },
      { text: 'One of two.' },
    ],
  });
  const thread = story.ask('refund A-1001, look at A-1003, delete Tomo Arai');
  await thread.shows(/Approval needed: Delete customer/);
  await thread.click(CAST.alice, /Approval needed: Refund order/, 'approve');
  await thread.shows(/Done: Refund order/);
  expect(await refunded(story)).toBe(12_000);
  await thread.shows(/Approval needed: Delete customer/);
  expect(story.model.requests).toHaveLength(1);

  await reject(story, CAST.alice, thread, /Approval needed: Delete customer/);
  await thread.shows(/One of two\./);
  expect(story.toldOfCalls()).toEqual([
    expect.stringContaining('"refunded":12000'),
    expect.stringContaining('Office chair'),
    expect.stringMatching(/denied.*Too much\./),
  ]);
  expect(await story.ledger.order('A-1004')).toBeDefined();
});

test('when the last of several is settled the model goes on once, however close the clicks are', async () => {
  const story = await startStory({
    replies: [
      { calls: [refund(12_000), refund(11_000, { orderId: 'A-1003' })] },
      { text: 'Both are refunded.' },
    ],
  });
  const thread = story.ask('refund both');
  const cards = await Promise.all([
    thread.shows(/Approval needed[\s\S]*12000/),
    thread.shows(/Approval needed[\s\S]*11000/),
  ]);
  await Promise.all(cards.map((card) => story.workspace.as(CAST.alice).click(card, 'approve')));
  await thread.shows(/Both are refunded\./);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('A-1001'), expect.stringContaining('A-1003')]);
  expect(await refunded(story, 'A-1003')).toBe(11_000);
});
