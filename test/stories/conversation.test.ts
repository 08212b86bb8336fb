import { expect, test } from 'vitest';
import { CAST, heardByModel, PLACES, startStory } from './support.ts';
import { openWorkshop } from './workshop.ts';

test('a mention is answered in its own thread', async () => {
  const story = await startStory({ replies: [{ text: 'Good morning.' }] });
  const thread = story.ask('good morning');
  const reply = await thread.shows(/Good morning\./);
  expect(reply).toMatchObject({ thread_ts: thread.ts, user: story.workspace.state.app.botUserId });
  expect(heardByModel(story.model)).toEqual(['remi: good morning']);
});

test('a direct message needs no mention', async () => {
  const story = await startStory({ replies: [{ text: 'Here I am.' }] });
  const channel = story.workspace.directMessages(CAST.requester);
  const said = story.workspace.as(CAST.requester).send(channel, 'are you there?');
  await story.threadIn(channel, said.ts).shows(/Here I am\./);
});

test('a reply in a thread that the bot takes part in needs no mention, and the model knows what was said before', async () => {
  const story = await startStory({ replies: [{ text: 'Yes?' }, { text: 'Forty-two.' }] });
  const thread = story.ask('a question');
  await thread.shows(/Yes\?/);
  story.workspace
    .as(CAST.requester)
    .send(thread.channel, 'what is six times seven?', { threadTs: thread.ts });
  await thread.shows(/Forty-two\./);
  expect(heardByModel(story.model)).toEqual(['remi: a question', 'remi: what is six times seven?']);
});

test.each(['thread_broadcast', 'file_share'])(
  'a reply that comes as %s is heard as well',
  async (subtype) => {
    const story = await startStory({ replies: [{ text: 'Yes?' }, { text: 'I see.' }] });
    const { state } = story.workspace;
    const thread = story.ask('a question');
    await thread.shows(/Yes\?/);
    const channel = state.channels.get(thread.channel);
    state.emitEvent({
      subscription: 'message.channels',
      event: {
        type: 'message',
        subtype,
        user: CAST.requester,
        text: 'look at this',
        ts: state.clock.next(),
        thread_ts: thread.ts,
        channel: thread.channel,
        channel_type: 'channel',
      },
      ...(channel !== undefined && { channel }),
    });
    await thread.shows(/I see\./);
    expect(heardByModel(story.model)).toEqual(['remi: a question', 'remi: look at this']);
  },
);

test('threads of others, other bots and edited messages start nothing', async () => {
  const story = await startStory({ replies: [{ text: 'For you.' }] });
  const { workspace } = story;
  const mention = `<@${workspace.state.app.botUserId}>`;
  const alice = workspace.as(CAST.alice);

  const others = alice.send(PLACES.general, 'lunch?');
  alice.send(PLACES.general, 'at noon', { threadTs: others.ts });
  workspace.state.post({
    channel: PLACES.general,
    user: CAST.bruno,
    bot_id: 'B0OTHERBOT',
    text: `${mention} a bot speaks`,
    blocks: [],
    attachments: [],
  });
  const edited = alice.send(PLACES.general, 'nothing for you');
  alice.edit(edited, `${mention} or is there`);

  const thread = story.ask('and this?');
  await thread.shows(/For you\./);
  expect(story.model.requests).toHaveLength(1);
  const posted = workspace.state.messages.filter(({ user }) => user === workspace.state.app.botUserId);
  expect(posted.map(({ thread_ts }) => thread_ts)).toEqual([thread.ts]);
});

test('a mention that arrives as two events, each of them three times, makes one reply', async () => {
  const story = await startStory({
    slack: { eventCopies: 3 },
    replies: [{ text: 'Once.' }, { text: 'And once more.' }],
  });
  const thread = story.ask('say it once');
  await thread.shows(/Once\./);
  const mentions = story.workspace.deliveries.filter(({ payload }) =>
    JSON.stringify(payload).includes('say it once'),
  );
  expect(mentions).toHaveLength(6);
  for (const delivery of mentions) await story.workspace.redeliver(delivery);

  story.ask('and again', { threadTs: thread.ts });
  await thread.shows(/And once more\./);
  expect(story.model.requests).toHaveLength(2);
  expect(story.repliesIn(thread).map(({ text }) => text)).toEqual(['Once.', 'And once more.']);
});

test('a stop that arrives as several events stops once and is never read', async () => {
  const question = { question: 'Which one?', choices: ['Red', 'Blue'] };
  const story = await startStory({
    slack: { eventCopies: 3 },
    replies: [{ calls: [{ name: 'ask_question', arguments: question }] }, { text: 'Then not.' }],
  });
  const thread = story.ask('buy me a bicycle');
  await thread.shows(/Which one\?/);
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/^Stopped\. Withdrawn: Which one\?/);
  await story.deliveredAll();
  story.ask('a red one after all?', { threadTs: thread.ts });
  await thread.shows(/Then not\./);
  expect(heardByModel(story.model)).toEqual(['remi: buy me a bicycle', 'remi: a red one after all?']);
  expect(story.repliesIn(thread).filter(({ text }) => text.startsWith('Stopped.'))).toHaveLength(1);
});

test('a stop where nothing goes on is answered without the model', async () => {
  const story = await startStory();
  await story.ask('stop').shows(/You have nothing to stop/);
  expect(story.model.requests).toHaveLength(0);
});

test('three people in one thread are told apart by name', async () => {
  const story = await startStory({ replies: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] });
  const thread = story.ask('where do we eat?');
  await thread.shows(/One\./);
  story.ask('not fish', { as: CAST.alice, threadTs: thread.ts });
  await thread.shows(/Two\./);
  story.ask(`fish, says <@${CAST.alice}>?`, { as: CAST.bruno, threadTs: thread.ts });
  await thread.shows(/Three\./);
  expect(heardByModel(story.model)).toEqual([
    'remi: where do we eat?',
    'alice: not fish',
    `bruno: fish, says @alice (${CAST.alice})?`,
  ]);
});

test('the thread shows that the agent thinks, and is active again when it has answered', async () => {
  const story = await startStory({ replies: [{ text: ['Let me ', 'think.'], delayMs: 1_500 }] });
  const { workspace } = story;
  // The end of a stream would end the session's work as well.
  workspace.fail('chat.startStream', { kind: 'refuse', error: 'not_allowed' }, { calls: 99 });
  const thread = story.ask('think');
  await workspace.until(
    () => workspace.state.threadStatus.get(`${thread.channel}:${thread.ts}`) === 'is thinking…',
    { what: 'the status' },
  );
  expect(workspace.sessionOf(thread.channel, thread.ts)?.status).toBe('processing');
  await thread.shows(/Let me think\./);
  await workspace.until(() => workspace.sessionOf(thread.channel, thread.ts)?.status === 'active', {
    what: 'an active session',
  });
  expect(workspace.state.threadStatus.size).toBe(0);
});

test('while people are asked the session is suspended, also behind words that were streamed', async () => {
  const story = await startStory({
    replies: [
      {
        text: ['I would ', 'rather ', 'ask ', 'you.'],
        delayMs: 50,
        calls: [{ name: 'ask_question', arguments: { question: 'Sure?', choices: ['Yes', 'No'] } }],
      },
      { text: 'Good.' },
    ],
  });
  const { workspace } = story;
  const thread = story.ask('delete everything');
  await thread.shows(/Sure\?/);
  const words = await thread.shows(/I would rather ask you\./);
  await workspace.until(() => words.stream?.state === 'completed', { what: 'the end of the stream' });
  await workspace.until(() => workspace.sessionOf(thread.channel, thread.ts)?.status === 'suspended', {
    what: 'a suspended session',
  });
  await thread.click(CAST.requester, /Sure\?/, 'choose:0');
  await thread.shows(/Good\./);
  await workspace.until(() => workspace.sessionOf(thread.channel, thread.ts)?.status === 'active', {
    what: 'an active session',
  });
});

test('while a tool runs, the line under the thread names it by its title, and not by its name', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('before');
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${CAST.alice}] } }
tools:
  workshop:
    module: ./test/stories/fixtures/workshop-tools.ts
    cards: [{ match: press_part, title: "Press the part of {{input.folder}}" }]
    approval: { require: never }
`,
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
  });
  const { workspace } = story;
  const thread = story.ask('press a part');
  const line = () => workspace.state.threadStatus.get(`${thread.channel}:${thread.ts}`);
  await workspace.until(() => line()?.startsWith('is running: Press the part of'), { what: 'the line' });
  await workshop.release('before');
  await thread.shows(/Pressed\./);
  expect(line()).toBeUndefined();
});

test('a turn that takes long shows its steps in the reply, and the one that waits for approval', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('before');
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${CAST.alice}] } }
tools:
  workshop:
    module: ./test/stories/fixtures/workshop-tools.ts
    cards: [{ match: press_part, title: "Press the part of {{input.folder}}" }]
    approval: { require: never }
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: { require: always }
`,
    replies: [
      { calls: [workshop.call('press_part')] },
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }] },
      { text: 'Refunded.' },
    ],
  });
  const thread = story.ask('press a part, then refund');
  const steps = () =>
    story
      .repliesIn(thread)
      .flatMap(({ stream }) =>
        (stream?.parts ?? []).flatMap((part) => (part.kind === 'task' ? [part.task] : [])),
      );
  await story.workspace.until(() => steps().length === 1, { what: 'the first step' });
  expect(steps()).toMatchObject([
    { title: expect.stringMatching(/^Press the part of/), status: 'in_progress' },
  ]);
  await workshop.release('before');
  await story.workspace.until(() => steps().length === 2, { what: 'the second step' });
  await story.workspace.until(
    () => story.repliesIn(thread).some(({ stream }) => stream?.state === 'completed'),
    { what: 'the end of the stream' },
  );
  expect(steps()).toMatchObject([
    { status: 'complete' },
    { title: expect.stringMatching(/^Refund/), status: 'pending', details: 'Sent for approval' },
  ]);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});
