import { expect, test } from 'vitest';
import { APPROVERS_GROUP } from '../../playground/slack/default-cast.ts';
import { CAST, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${APPROVERS_GROUP}], notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

/** Starts a story with a pending refund, in a Slack whose calls take two seconds from then on. */
async function slowStory() {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const { context } = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  await story.deliveredAll();
  story.workspace.fail('*', { kind: 'slow', milliseconds: 2_000 }, { calls: Number.POSITIVE_INFINITY });
  const click = async (who: string) => {
    const startedAt = performance.now();
    const outcome = await story.workspace.as(who).click({ channel: thread.channel, ts: card.ts }, 'approve');
    return { outcome, ms: performance.now() - startedAt };
  };
  const { requestIds } = await context.store.list('asked', [CAST.requester], { limit: 1 });
  const [requestId = ''] = requestIds;
  return { ...story, context, thread, click, requestId };
}

test('a click is acknowledged within a second though each call of Slack takes two, and counts once it is authorized', async () => {
  const story = await slowStory();
  const { outcome, ms } = await story.click(CAST.alice);
  expect(outcome.kind).toBe('acknowledged');
  expect(ms).toBeLessThan(1_000);
  const loaded = await story.context.store.load(story.requestId);
  expect(loaded).toMatchObject({ outcome: 'found', request: { state: 'pending', votes: [] } });
  await story.thread.shows(/Refunded\./);
  await story.noticeFor(CAST.alice, /Recorded: you approved/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  await story.deliveredAll();
});

test('a click of somebody who may not approve is acknowledged as soon, and refused in words', async () => {
  const story = await slowStory();
  const { outcome, ms } = await story.click(CAST.admin);
  expect(outcome.kind).toBe('acknowledged');
  expect(ms).toBeLessThan(1_000);
  const notice = await story.noticeFor(CAST.admin, /not yours|not an approver/);
  expect(notice.thread_ts).toBe(story.thread.ts);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
  await story.click(CAST.alice);
  await story.thread.shows(/Refunded\./);
  await story.deliveredAll();
});

test('a click that was acknowledged by a process that died is decided by another', async () => {
  const story = await slowStory();
  const made = {
    requestId: story.requestId,
    click: { who: CAST.alice, id: '1.1', channel: story.thread.channel },
    decision: { type: 'approve' },
  };
  const replyTo = { user: CAST.alice, channel: story.thread.channel, threadTs: story.thread.ts };
  const row = { id: 'a click', body: { kind: 'decision', made, replyTo } };
  await story.context.store.enqueueOutbox(`${story.thread.channel}:${story.thread.ts}`, row, 100);
  await story.thread.shows(/Refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  await story.deliveredAll();
});
