import { expect, test } from 'vitest';
import { requestIdOf } from '../../src/store/port/keys.ts';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

test('an ended request and an idle thread leave Redis when the manifest says so, and the audit log keeps what happened', async () => {
  const story = await startStory({
    manifest: `${MANIFEST}retention: { threads: 1s, requests: 1s }\n`,
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const { context } = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const threadId = `${thread.channel}:${thread.ts}`;
  const { requestIds } = await context.store.list('asked', [CAST.requester], { limit: 5 });
  const [requestId = requestIdOf(threadId, 'none')] = requestIds;
  expect(await context.store.load(requestId)).toMatchObject({ outcome: 'found' });
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);

  await expect.poll(() => context.store.load(requestId)).toEqual({ outcome: 'unknown' });
  await expect.poll(() => story.redis.keys(`{${story.prefix}}:log:${threadId}`)).toEqual([]);
  const rows = [];
  for await (const row of context.store.exportAudit()) if (row.subject === requestId) rows.push(row.event);
  expect(rows).toEqual(['asked', 'voted', 'approved', 'started', 'succeeded']);
  expect((await verifyChain(context.store)).problems).toEqual([]);
});
