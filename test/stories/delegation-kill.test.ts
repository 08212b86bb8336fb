import { expect, test } from 'vitest';
import { delegationsIn, readDelegations } from '../../src/store/documents/delegations.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, PLACES, startStory } from './support.ts';

const { alice, bruno } = CAST;
const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], delegation: true }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

test('a delegation, its notice and the vote under it survive a killed process, and an end that it had entered holds', async () => {
  const story = await startStory({
    manifest: MANIFEST,
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } }] },
      { text: 'Refunded.' },
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1002', amount: 100, reason: '' } }] },
    ],
    timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const { workspace } = story;
  const doomed = await startDoomedBot(story, MANIFEST);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  // The notice cannot be sent before the process dies.
  workspace.fail('conversations.open', { kind: 'slow', milliseconds: 600_000 });
  const record = openRedisStore({ client: story.redis, prefix: story.prefix });
  await workspace
    .as(alice)
    .command('/countersign', `delegate <@${bruno}> until Friday`, { channel: PLACES.general });
  await expect.poll(async () => (await readDelegations(record)).length).toBe(1);
  await workspace.until(() => workspace.calls.some(({ method }) => method === 'conversations.open'), {
    what: 'the notice on its way',
  });
  await doomed.kill();
  const next = await story.startOwnBot();
  await story.directly(bruno).shows(/Delegated to you until /);
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);

  // A process that has entered the end and brought it nowhere is as good as one that was killed there.
  await next.stop();
  const end = { from: alice, id: 'end-1', who: alice, isAdmin: false, evidence: {} };
  await delegationsIn(record).end(end);
  await story.startOwnBot();
  const other = story.ask('refund order A-1002');
  await other.click(bruno, /Approval needed/, 'approve');
  await story.noticeFor(bruno, /can approve this/);
  expect((await story.ledger.order('A-1002'))?.refunded ?? 0).toBe(0);
});
