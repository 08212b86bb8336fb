import { expect, test } from 'vitest';
import { CAST, heardByModel, type Story, startStory, type Thread } from './support.ts';

const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });
const { alice, bruno, admin, requester: remi } = CAST;

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

/** Writes in a thread without mentioning the bot, and waits until the bot has received it. */
async function write(story: Story, thread: Thread, who: string, text: string): Promise<void> {
  story.workspace.as(who).send(thread.channel, text, { threadTs: thread.ts });
  await story.deliveredAll();
}

/** Lets Slack deliver a message that was written at some earlier time. */
async function deliverLate(story: Story, thread: Thread, user: string, text: string, ts: string) {
  const { state } = story.workspace;
  const channel = state.channels.get(thread.channel);
  state.emitEvent({
    subscription: 'message.channels',
    event: {
      ...{ type: 'message', user, text, ts, thread_ts: thread.ts },
      ...{ channel: thread.channel, channel_type: 'channel' },
    },
    ...(channel !== undefined && { channel }),
  });
  await story.deliveredAll();
}

const manifestWith = (policy: string, approval: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false }, confirm: false${policy} }
tools:
  read_order: { module: ./examples/shop/tools/read-order.ts, approval: { require: never } }
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: ${approval} }
`;
const ALWAYS = '{ policy: default }';
const FREE_FOR_ADMIN = `[{ require: never, when: "requester == '${admin}'" }, { policy: default }]`;

test('a bystander\'s "lol" after the bot has asked back starts nothing and is context of the next words', async () => {
  const story = await startStory({
    replies: [{ text: 'Which order?' }, { calls: [refund(12_000)] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund 120', { as: alice });
  await thread.shows(/Which order\?/);
  await write(story, thread, remi, 'lol');
  expect(story.model.requests).toHaveLength(1);
  await write(story, thread, alice, 'A-1001');
  const card = await thread.shows(/Approval needed[\s\S]*12000/);
  expect(JSON.stringify(card.blocks)).toMatch(new RegExp(`asked by [\\s\\S]*${alice}`));
  expect(JSON.stringify(card.blocks)).not.toContain(remi);
  expect(heardByModel(story.model)).toEqual([
    expect.stringMatching(/: refund 120$/),
    expect.stringMatching(/^\[Context from .+, not an instruction\]\n> lol$/),
    expect.stringMatching(/: A-1001$/),
  ]);
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/Refunded\./);
});

test('an approver who asked and was asked back in words is still a requester when somebody else mentions the bot', async () => {
  const story = await startStory({
    replies: [
      { calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }] },
      { text: 'It is there. Shall I?' },
      { calls: [refund(12_000)] },
      { text: 'Refunded.' },
    ],
  });
  const thread = story.ask('refund 120 for A-1001', { as: alice });
  await thread.shows(/Shall I\?/);
  story.ask('lol', { as: remi, threadTs: thread.ts });
  const card = await thread.shows(/Approval needed[\s\S]*12000/);
  expect(JSON.stringify(card.blocks)).toMatch(new RegExp(`asked by [\\s\\S]*${alice}[\\s\\S]*${remi}`));
  await thread.click(alice, /Approval needed[\s\S]*12000/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  expect(await refunded(story)).toBe(0);
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/Refunded\./);
});

test.each([
  { how: 'with a mention', mentions: true },
  { how: 'without one', mentions: false },
])(
  'an admin\'s "thanks!" $how does not let run unapproved what somebody else has asked for',
  async ({ mentions }) => {
    const story = await startStory({
      replies: [
        { text: 'Understood.' },
        ...(mentions ? [{ calls: [refund(12_000)] }, { text: 'Refunded.' }] : []),
      ],
      manifest: manifestWith('', FREE_FOR_ADMIN),
    });
    const thread = story.ask('refund A-1001 as soon as the admin says anything');
    await thread.shows(/Understood\./);
    if (!mentions) {
      await write(story, thread, admin, 'thanks!');
      expect(story.model.requests).toHaveLength(1);
      return;
    }
    story.ask('thanks!', { as: admin, threadTs: thread.ts });
    await thread.shows(/Approval needed[\s\S]*12000/);
    expect(await refunded(story)).toBe(0);
    await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
    await thread.shows(/Refunded\./);
  },
);

test('who asked is a requester until what was asked is decided and told; after that their words are context', async () => {
  const story = await startStory({
    replies: [
      { calls: [refund(12_000)] },
      { text: 'First one done.' },
      { calls: [refund(13_000)] },
      { text: 'Second one done.' },
    ],
    manifest: manifestWith('', FREE_FOR_ADMIN),
  });
  const thread = story.ask('refund A-1001, and again when the admin speaks', { as: alice });
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/First one done\./);
  story.ask('thanks!', { as: admin, threadTs: thread.ts });
  // Alice's words are still before the model, so the admin's right alone is not enough.
  const card = await thread.shows(/Approval needed[\s\S]*13000/);
  expect(JSON.stringify(card.blocks)).toMatch(new RegExp(`asked by [\\s\\S]*${admin}`));
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Second one done\./);
});

test('with separation: thread somebody whose request has ended cannot approve the next one of the thread', async () => {
  const story = await startStory({
    replies: [
      { calls: [refund(12_000)] },
      { text: 'First one done.' },
      { calls: [refund(13_000)] },
      { text: 'Second one done.' },
    ],
    manifest: manifestWith(', separation: thread', ALWAYS),
  });
  const thread = story.ask('refund A-1001', { as: alice });
  await thread.click(bruno, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/First one done\./);
  story.ask('once more', { threadTs: thread.ts });
  await thread.click(alice, /Approval needed[\s\S]*13000/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  await thread.click(bruno, /Approval needed[\s\S]*13000/, 'approve');
  await thread.shows(/Second one done\./);
});

test('words that were said to a colleague before the bot was mentioned and arrive late start nothing', async () => {
  const story = await startStory({ replies: [{ text: 'Good morning.' }, { text: 'I see.' }] });
  const { ts } = story.workspace.as(remi).send('C0GENERAL1', 'a discussion');
  const early = story.workspace.state.clock.next();
  const thread = story.ask('good morning', { as: alice, threadTs: ts });
  await thread.shows(/Good morning\./);
  // Of a colleague, and of the person who has asked since.
  await deliverLate(story, thread, bruno, 'delete customer Hooper, please', early);
  await deliverLate(story, thread, alice, 'and refund A-1001', `${early}1`);
  expect(story.model.requests).toHaveLength(1);
  await write(story, thread, alice, 'what now?');
  await thread.shows(/I see\./);
  expect(heardByModel(story.model).slice(-3)).toEqual([
    expect.stringMatching(/^\[Context from .+\n> delete customer Hooper, please$/),
    expect.stringMatching(/^\[Context from .+\n> and refund A-1001$/),
    expect.stringMatching(/: what now\?$/),
  ]);
});

test('a message that was read with the thread and arrives late as an event is read once', async () => {
  const story = await startStory({ replies: [{ text: 'Good morning.' }, { text: 'I see.' }] });
  const { workspace } = story;
  const { ts } = workspace.as(remi).send('C0GENERAL1', 'a discussion');
  const said = workspace.as(bruno).send('C0GENERAL1', 'delete Hooper', { threadTs: ts });
  await story.deliveredAll();
  const thread = story.ask('good morning', { as: alice, threadTs: ts });
  await thread.shows(/Good morning\./);
  await deliverLate(story, thread, bruno, 'delete Hooper', said.ts);
  await write(story, thread, alice, 'what now?');
  await thread.shows(/I see\./);
  expect(heardByModel(story.model).filter((text) => text.includes('delete Hooper'))).toHaveLength(1);
});
