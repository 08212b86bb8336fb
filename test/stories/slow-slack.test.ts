import { expect, onTestFinished, test } from 'vitest';
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
  const notice = await story.noticeFor(CAST.admin, /can approve this/);
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

test('a freeze, and the ends of a freeze, a grant and a delegation, are on record or held for another process before Slack hears of them', async () => {
  const admins = manifest.replace('agent: {', `agent: { admins: [${CAST.admin}],`);
  const story = await startStory({
    manifest: admins,
    slack: { app: { commands: ['/countersign'] } },
    withoutBot: true,
  });
  const { store } = (await story.startOwnBot()).context;
  let goOn = () => {};
  const until = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  onTestFinished(() => goOn());
  story.workspace.fail('users.info', { kind: 'held', until }, { calls: Number.POSITIVE_INFINITY });
  await story.workspace.as(CAST.admin).command('/countersign', 'freeze all Looks odd');
  // Slack was told, nothing is frozen, and whoever takes the row freezes it.
  expect((await store.readFreezes()).freezes).toEqual([]);
  const [rows = ''] = await story.redis.keys(`*${story.prefix}*rows`);
  expect(JSON.stringify(await story.redis.hvals(rows))).toContain('freeze all Looks odd');
  goOn();
  await story.noticeFor(CAST.admin, /Frozen/);
  expect((await store.readFreezes()).freezes).toHaveLength(1);
});

test('a freeze that was acknowledged by a process that died is made by another', async () => {
  const admins = manifest.replace('agent: {', `agent: { admins: [${CAST.admin}],`);
  const story = await startStory({ manifest: admins, withoutBot: true });
  const { store } = (await story.startOwnBot()).context;
  const click = { who: CAST.admin, id: '1.1' };
  const held = { act: 'freeze', value: 'freeze all Looks odd', click, replyTo: { user: CAST.admin } };
  await store.enqueueOutbox('clicks', { id: 'a click', body: { kind: 'held-click', ...held } }, 100);
  await story.directly(CAST.admin).shows(/Frozen/);
  expect((await store.readFreezes()).freezes).toMatchObject([{ who: CAST.admin }]);
});
