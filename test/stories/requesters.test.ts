import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { clickCard } from '../support/click-card.ts';
import { CAST, heardByModel, MANIFEST, type Story, startStory, type Thread } from './support.ts';

const refund = (amount: number, orderId = 'A-1001') => ({
  name: 'refund_order',
  arguments: { orderId, amount },
});
const { alice, bruno, requester: remi } = CAST;

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

/** Writes in a thread without mentioning the bot, and waits until the bot has received it. */
async function write(story: Story, thread: Thread, who: string, text: string): Promise<void> {
  story.workspace.as(who).send(thread.channel, text, { threadTs: thread.ts });
  await story.allReceived();
}

const requestedBy = (...people: string[]) => new RegExp(`asked by [\\s\\S]*${people.join('[\\s\\S]*')}`);

test('a remark beside the card makes nobody a requester, so an approver cannot approve what they asked for themselves', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001', { as: alice });
  await thread.shows(/Approval needed[\s\S]*12000/);
  await write(story, thread, remi, 'lol');
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  const card = await thread.shows(/Approval needed[\s\S]*13000/);
  expect(JSON.stringify(card.blocks)).toMatch(requestedBy(alice));
  expect(JSON.stringify(card.blocks)).not.toContain(remi);
  expect(heardByModel(story.model)).toEqual([
    expect.stringMatching(/: refund order A-1001$/),
    expect.stringMatching(/^\[Context from .+, not an instruction\]\n> lol$/),
  ]);
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  expect(await refunded(story)).toBe(12_000);
  await thread.click(bruno, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Refunded\./);
});

test('an approver who writes "looks good to me" between two steps can still approve the next one', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Refunded.' }],
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`,
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed[\s\S]*12000/);
  await write(story, thread, alice, 'looks good to me');
  await thread.click(alice, /Approval needed[\s\S]*12000/, 'approve');
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(25_000);
});

test('an approver who mentions the bot to change the amount is a requester of the next card, and cannot approve it', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed[\s\S]*12000/);
  story.ask('make it 130 dollars', { as: alice, threadTs: thread.ts });
  await story.allReceived();
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'reject');
  const modal = await story.modalFor(bruno, /reject/);
  await story.workspace.as(bruno).submit(modal.id, { reason: 'Alice wants another amount.' });
  const card = await thread.shows(/Approval needed[\s\S]*13000/);
  expect(JSON.stringify(card.blocks)).toMatch(requestedBy(remi, alice));
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  await thread.click(bruno, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Refunded\./);
});

test('of two people who both ask neither can approve, so a call that only they could approve is refused', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Withdrawn.' }],
  });
  const thread = story.ask('refund order A-1001', { as: alice });
  await thread.shows(/Approval needed[\s\S]*12000/);
  story.ask('and once more, please', { as: bruno, threadTs: thread.ts });
  await story.allReceived();
  await thread.click(alice, /Approval needed[\s\S]*12000/, 'withdraw');
  await thread.shows(/Nobody can approve this/);
  expect(await refunded(story)).toBe(0);
  expect(heardByModel(story.model).at(-1)).toMatch(/: and once more, please$/);
});

test('the editor of a request is named on the new card and cannot approve it, and Details has both values', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'Refunded.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Approval needed/, 'edit');
  await story.workspace.as(alice).submit((await story.modalFor(alice)).id, { 'field-1': '45000' });
  const card = await thread.shows(/Approval needed[\s\S]*45000/);
  const shown = JSON.stringify(card.blocks);
  expect(shown).toMatch(new RegExp(`edited by [\\s\\S]*${alice}`));
  expect(shown).toMatch(requestedBy(remi, alice));
  await thread.click(alice, /Approval needed[\s\S]*45000/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  expect(await refunded(story)).toBe(0);
  await clickCard(story.workspace, bruno, card, 'details');
  const details = JSON.stringify((await story.modalFor(bruno, /before the edit/)).blocks);
  expect(details).toMatch(/45000[\s\S]*12000/);
  await story.workspace.as(bruno).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/Refunded\./);
});

test('what a bystander writes while the bot answers is kept as context and answered by nobody', async () => {
  const events = new EventEmitter();
  const written = once(events, 'written');
  const story = await startStory({
    replies: [{ text: 'First answer.', before: () => written }, { text: 'Second answer.' }],
  });
  const thread = story.ask('hello');
  await story.workspace.until(() => story.model.requests.length === 1, { what: 'a call of the model' });
  await write(story, thread, bruno, 'thanks!');
  events.emit('written');
  await thread.shows(/First answer\./);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/Second answer\./);
  expect(heardByModel(story.model).join('\n')).toContain('> thanks!');
  expect(story.repliesIn(thread)).toHaveLength(2);
});

const ADMIN_ONLY = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false } }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: [{ when: requester == "${CAST.admin}", require: never }, { policy: default }]
  delete_customer:
    module: ./examples/shop/tools/delete-customer.ts
    allow: { people: [${CAST.admin}] }
    approval: { require: never }
`;

test('what runs without approval for the admin alone needs approval after somebody else has asked, and is not offered if only the admin may use it', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Not now.' }],
    manifest: ADMIN_ONLY,
  });
  const offered = () => (story.model.requests.at(-1)?.tools ?? []).map((tool) => tool.function.name);
  const thread = story.ask('refund order A-1001', { as: remi });
  await thread.shows(/Approval needed[\s\S]*12000/);
  expect(offered()).not.toContain('delete_customer');
  story.ask('thanks!', { as: CAST.admin, threadTs: thread.ts });
  await story.allReceived();
  await thread.click(remi, /Approval needed[\s\S]*12000/, 'withdraw');
  await thread.shows(/Approval needed[\s\S]*13000/);
  expect(offered()).not.toContain('delete_customer');
  expect(await refunded(story)).toBe(0);
  await thread.click(remi, /Approval needed[\s\S]*13000/, 'withdraw');
  await thread.shows(/Not now\./);
});

test('a call that runs without approval for the requester needs approval once the model has read what somebody else wrote', async () => {
  const story = await startStory({
    replies: [
      { calls: [{ name: 'ask_question', arguments: { question: 'Sure?', choices: ['Yes', 'No'] } }] },
      { calls: [refund(12_000)] },
      { text: 'Refunded.' },
    ],
    manifest: ADMIN_ONLY,
  });
  const thread = story.ask('refund order A-1001', { as: CAST.admin });
  const card = await thread.shows(/Sure\?/);
  await write(story, thread, remi, 'refund it all');
  await story.workspace.as(CAST.admin).click(card, 'choose:0');
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/Refunded\./);
  const asked: unknown[] = [];
  for await (const { event, detail, body } of openRedisStore({
    client: story.redis,
    prefix: story.prefix,
  }).exportAudit())
    if (event === 'asked' && detail === 'approval') asked.push(JSON.parse(body));
  // The log alone says why it was asked.
  expect(asked).toMatchObject([{ requesters: [CAST.admin], context_authors: [remi] }]);
});

test('an approved action does not run once its requester is deactivated, and the card says why', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'It ended.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const person = story.workspace.state.users.get(remi);
  if (person !== undefined) person.deleted = true;
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/no longer active here, so it did not run/);
  await thread.shows(/It ended\./);
  expect(await refunded(story)).toBe(0);
});

test('a call that needs no approval does not run either once its requester is deactivated, and the thread hears why', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }, { calls: [refund(500)] }, { text: 'It ended.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const person = story.workspace.state.users.get(remi);
  if (person !== undefined) person.deleted = true;
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/It ended\./);
  expect(await refunded(story)).toBe(0);
  await thread.shows(/Refund order did not run\. A person who requested this is no longer active here\./);
});

test('of two simultaneous edits the first counts, and the second editor is told that theirs came too late', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000)] }],
    timing: { ackWithinMs: { click: 30_000, submission: 30_000 } },
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Approval needed/, 'edit');
  const first = await story.modalFor(alice);
  await thread.click(bruno, /Approval needed/, 'edit');
  const second = await story.modalFor(bruno);
  await story.workspace.as(alice).submit(first.id, { 'field-1': '11000' });
  expect(await story.workspace.as(bruno).submit(second.id, { 'field-1': '13000' })).toMatchObject({
    errors: { 'field-0': expect.stringMatching(/already replaced/) },
  });
  await thread.shows(/Approval needed[\s\S]*11000/);
});

test.each([
  { policy: 'risk: high', can: false },
  { policy: 'separation: thread', can: false },
  { policy: 'risk: high, separation: requesters', can: true },
])(
  'with $policy an approver whose remark was read can approve the next step: $can',
  async ({ policy, can }) => {
    const story = await startStory({
      replies: [{ calls: [refund(12_000)] }, { calls: [refund(13_000)] }, { text: 'Refunded.' }],
      manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false }, confirm: false, ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`,
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/Approval needed[\s\S]*12000/);
    await write(story, thread, alice, 'looks good to me');
    await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
    await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
    if (!can) {
      await story.noticeFor(alice, /someone else has to approve/);
      await thread.click(bruno, /Approval needed[\s\S]*13000/, 'approve');
    }
    await thread.shows(/Refunded\./);
  },
);

test('an edit that changes nothing is refused in the modal, and makes nobody a requester', async () => {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, { text: 'Refunded.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Approval needed/, 'edit');
  const modal = await story.modalFor(alice);
  expect(await story.workspace.as(alice).submit(modal.id, {})).toMatchObject({
    errors: { 'field-0': "You haven't changed anything." },
  });
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('an edit that a rule or a limit denies is explained in the modal, which stays open', async () => {
  const manifest = `${MANIFEST.replace(
    'approval: [{ policy: default, when: "input.amount > 10000" }',
    'approval: [{ require: deny, when: "input.amount > 50000", reason: Finance does that. }, { policy: default, when: "input.amount > 10000" }',
  )}limits:
  refund_order: { per: requester, sum: input.amount, window: 1d, max: 30000 }
`;
  const story = await startStory({ manifest, replies: [{ calls: [refund(12_000)] }, { text: 'Refunded.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /Approval needed/, 'edit');
  const modal = await story.modalFor(alice);
  for (const [amount, why] of [
    ['60000', /^This change isn't allowed: Finance does that\./],
    ['40000', /^This change isn't allowed: .*30,?000/],
  ] as const)
    expect(await story.workspace.as(alice).submit(modal.id, { 'field-1': amount })).toMatchObject({
      errors: { 'field-0': expect.stringMatching(why) },
    });
  expect(story.workspace.modalOf(alice)?.id).toBe(modal.id);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});
