import { expect, test } from 'vitest';
import { CAST, PLACES, type Story, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const lookUp = { name: 'read_order', arguments: { orderId: 'A-1001' } };

const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}, ${CAST.requester}], ${policy} }
tools:
  read_order: { module: ./examples/shop/tools/read-order.ts, approval: { require: never } }
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

const hasBlocks = (given: Record<string, unknown>) => given.blocks !== undefined;
const cardsIn = (story: Story, channel: string, ts: string) =>
  story.workspace
    .messagesIn(channel, ts)
    .filter(({ blocks }) => JSON.stringify(blocks).includes('Refund order'));

test('a card that Slack has no room for now is posted when Slack said, and once', async () => {
  const story = await startStory({ replies: [{ calls: [refund] }] });
  story.workspace.rateLimit('chat.postMessage', { calls: 1, retryAfterSeconds: 1 });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const [refused, posted] = story.workspace.calls.filter(({ method }) => method === 'chat.postMessage');
  expect(refused?.status).toBe(429);
  expect((posted?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  expect(cardsIn(story, thread.channel, thread.ts)).toHaveLength(1);
  // Slack has not taken the first one: nothing is left that could replace the card, and nothing has to be looked up.
  await story.deliveredAll();
  const methods = story.workspace.calls.map(({ method }) => method);
  expect(methods).not.toContain('conversations.replies');
  expect(methods).not.toContain('chat.update');
});

test('neither a failing Slack nor a lost answer makes a second card or a second reply', async () => {
  const story = await startStory({
    replies: [{ calls: [refund] }, { calls: [lookUp] }, { text: 'Refunded.' }],
    manifest: manifest('notify: { direct_messages: true }'),
    timing: { redrawMs: 500 },
  });
  story.workspace.fail(
    'chat.startStream',
    { kind: 'refuse', error: 'method_not_supported_for_channel_type' },
    { calls: 9 },
  );
  story.workspace.fail('chat.postMessage', { kind: 'status', status: 503 }, { when: hasBlocks });
  story.workspace.fail('chat.postMessage', { kind: 'lost-answer' }, { when: hasBlocks, calls: 3 });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await story.directly(CAST.alice).shows(/Approval needed/);
  story.workspace.fail('chat.update', { kind: 'status', status: 500 });
  story.workspace.fail('chat.postMessage', { kind: 'lost-answer' }, { when: (given) => !hasBlocks(given) });
  await thread.click(CAST.alice, /Approval needed/, 'approve');

  await thread.shows(/Done: Refund order/);
  await story.directly(CAST.alice).shows(/Done: Refund order/);
  await story.directly(CAST.bruno).shows(/Done: Refund order/);
  await thread.shows(/Refunded\./);
  const isDelivered = async () => (await story.redis.keys(`{${story.prefix}}:outbox`)).length === 0;
  await expect.poll(isDelivered).toBe(true);
  expect(cardsIn(story, thread.channel, thread.ts)).toHaveLength(1);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.alice))).toHaveLength(1);
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.bruno))).toHaveLength(1);
  expect(story.repliesIn(thread).filter(({ text }) => text.includes('Refunded.'))).toHaveLength(1);
});

test('a lost answer in a thread of hundreds of messages makes no second card', async () => {
  const story = await startStory({ replies: [{ calls: [refund] }] });
  const { general } = PLACES;
  const root = story.workspace.as(CAST.alice).send(general, 'a long discussion');
  for (let index = 0; index < 250; index += 1)
    story.workspace.as(CAST.alice).send(general, `argument ${index}`, { threadTs: root.ts });
  story.workspace.fail('chat.postMessage', { kind: 'lost-answer' }, { when: hasBlocks });
  const thread = story.ask('refund order A-1001', { threadTs: root.ts });
  await thread.shows(/Approval needed/);
  await story.workspace.until(({ calls }) => calls.some(({ method }) => method === 'chat.update'), {
    what: 'the card that stood, drawn again',
  });
  expect(cardsIn(story, thread.channel, thread.ts)).toHaveLength(1);
});

test('a deleted card that still waits is posted again at its next change', async () => {
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    manifest: manifest('quorum: 2, notify: { direct_messages: true }'),
  });
  const thread = story.ask('refund order A-1001');
  const deleted = await thread.shows(/Approval needed/);
  story.workspace.state.remove(deleted);
  await story.directly(CAST.alice).click(CAST.alice, /Approval needed/, 'approve');
  const again = await thread.shows(/1 of 2 approvals/);
  expect(again.ts).not.toBe(deleted.ts);

  await thread.click(CAST.bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect((await thread.shows(/Done: Refund order/)).ts).toBe(again.ts);
});

test('a card that cannot be posted ends the request: nothing runs, the requester is told in person and the model why', async () => {
  const story = await startStory({
    replies: async (_request, index) => {
      const channel = story.workspace.state.channels.get(PLACES.general);
      if (channel !== undefined) channel.is_archived = true;
      return index === 0 ? { calls: [refund] } : { text: 'Nobody could be asked.' };
    },
    manifest: manifest('notify: { direct_messages: true }'),
  });
  story.ask('refund order A-1001');
  const told = await story
    .directly(CAST.requester)
    .shows(/did not run: I couldn't post its card.*\(is_archived\)\. Please ask me again somewhere else/);
  expect(JSON.stringify(told.blocks)).toContain(`{"type":"channel","channel_id":"${PLACES.general}"}`);
  await expect.poll(() => story.model.requests.length).toBe(2);
  expect(story.toldOfCalls().at(-1)).toMatch(/failed.*is_archived/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('a card that changes many times at once ends at its last state, with one call in flight', async () => {
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    manifest: manifest('quorum: 4, self_approval: true, notify: { direct_messages: false }'),
  });
  const milliseconds = 300;
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  story.workspace.fail('chat.update', { kind: 'slow', milliseconds }, { when: hasBlocks, calls: 100 });
  const signers = [CAST.alice, CAST.bruno, CAST.admin, CAST.requester];
  await Promise.all(
    signers.map((who) => story.workspace.as(who).click({ channel: thread.channel, ts: card.ts }, 'approve')),
  );
  await thread.shows(/Done: Refund order/);
  await thread.shows(/Refunded\./);
  const isDelivered = async () => (await story.redis.keys(`{${story.prefix}}:outbox`)).length === 0;
  await expect.poll(isDelivered).toBe(true);

  const updates = story.workspace.calls.filter(
    (call) => call.method === 'chat.update' && call.arguments.ts === card.ts,
  );
  const pauses = updates.slice(1).map((call, index) => call.at - (updates[index]?.at ?? 0));
  // A timer may fire within the millisecond before its time.
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(milliseconds - 1);
  // Four signatures, the start and the end are six changes.
  expect(updates.length).toBeLessThan(6);
  expect(cardsIn(story, thread.channel, thread.ts)).toHaveLength(1);
  expect((await thread.shows(/Done: Refund order/)).ts).toBe(card.ts);
});

test('an update that Slack applies late, over a later one, is drawn over in its turn', async () => {
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    manifest: manifest('quorum: 2, notify: { direct_messages: false }'),
    timing: { redrawMs: 2_000 },
  });
  const thread = story.ask('refund order A-1001');
  const { ts } = await thread.shows(/Approval needed/);
  const card = () => story.workspace.state.findMessage(thread.channel, ts);
  story.workspace.fail('chat.update', { kind: 'late', milliseconds: 2_000 }, { when: hasBlocks });
  const lost = () => story.workspace.calls.some(({ method, isLost }) => method === 'chat.update' && isLost);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(lost).toBe(true);
  await thread.click(CAST.bruno, /Approval needed/, 'approve');
  await thread.shows(/Done: Refund order/);
  await expect.poll(() => card()?.history.some(({ text }) => /Done/.test(text))).toBe(true);
  await expect.poll(() => card()?.text).toMatch(/^Done: Refund order/);
  expect(card()?.history.at(-1)?.text).toMatch(/Approval needed/);
});
