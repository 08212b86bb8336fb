import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, PLACES, type Story, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const SILENT = { heartbeatTimeoutMs: 1_500, heartbeatMs: 3_600_000 };
const SWEEP = { everyMs: 100, overdueMs: 0 };

const manifestFor = (approvers: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${approvers}], notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

/** The audit rows of the only request, each with its evidence. */
async function auditOf({ redis, prefix }: Story) {
  const rows: { event: string; body: Record<string, unknown> }[] = [];
  for await (const { event, body } of openRedisStore({ client: redis, prefix }).exportAudit())
    rows.push({ event, body: body === '' ? {} : JSON.parse(body) });
  return rows;
}

test('the signature of a named approver is on record as a vote, an approval and a start, each once', async () => {
  const story = await startStory({
    manifest: manifestFor(CAST.alice),
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
  const rows = await auditOf(story);
  expect(rows.map(({ event }) => event)).toEqual(['asked', 'voted', 'approved', 'started', 'succeeded']);
  const [asked, voted, , started] = rows;
  expect(voted?.body).toMatchObject({ who: CAST.alice, evidence: { as: CAST.alice, isBot: false } });
  expect(started?.body).toMatchObject({ stillEligible: [CAST.alice], digest: asked?.body.digest });
});

test('what was changed on record behind everybody does not run, and people are asked about it', async () => {
  const story = await startStory({
    manifest: manifestFor(CAST.alice),
    replies: [{ calls: [refund] }],
    timing: SILENT,
    sweep: SWEEP,
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Needs 1 approval/);
  const [key = ''] = await story.redis.keys(`{${story.prefix}}:record:*`);
  const record = (await story.redis.get(key)) ?? '';
  expect(record).toContain('12000');
  await story.redis.set(key, record.replaceAll('12000', '32000'));
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/(Outcome unknown|Replaced): Refund order/);
  expect(await refunded(story)).toBe(0);
});

test.each([
  { actionId: 'approve', who: CAST.alice },
  { actionId: 'withdraw', who: CAST.requester },
])(
  'a click on $actionId where no card of the request stands is refused, and logged',
  async ({ actionId, who }) => {
    const story = await startStory({
      manifest: manifestFor(CAST.alice),
      replies: [{ calls: [refund] }],
      withoutBot: true,
    });
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { context } = await story.startOwnBot({ logger });
    const thread = story.ask('refund order A-1001');
    await thread.shows(/Needs 1 approval/);
    const { requestIds } = await context.store.list('asked', [CAST.requester], { limit: 1 });
    const [requestId = ''] = requestIds;

    const elsewhere = story.workspace.as(who).send(PLACES.partners, 'Look here.');
    const target = { channel: PLACES.partners, ts: elsewhere.ts };
    await story.workspace.as(who).click(target, actionId, { force: true, value: requestId });
    await story.noticeFor(who, /can't decide this from here/);

    const told = lines.map((line): unknown => JSON.parse(line));
    expect(told).toContainEqual(
      expect.objectContaining({
        level: pino.levels.values.warn,
        requestId,
        user: who,
        channel: PLACES.partners,
        msg: 'click from elsewhere',
      }),
    );
    await thread.shows(/Needs 1 approval/);
    expect(await refunded(story)).toBe(0);
  },
);

test('an approver who has the card as a direct message cannot approve from a channel that does not show it', async () => {
  const story = await startStory({
    manifest: manifestFor(CAST.alice).replace(
      'notify: { direct_messages: false }',
      'notify: { direct_messages: true }',
    ),
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const { context } = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await story.directly(CAST.alice).shows(/Needs 1 approval/);
  const [requestId = ''] = (await context.store.list('asked', [CAST.requester], { limit: 1 })).requestIds;
  await story.workspace.until(
    async () => {
      const loaded = await context.store.load(requestId);
      return (
        loaded.outcome === 'found' && loaded.request.views.every(({ postedAt }) => postedAt !== undefined)
      );
    },
    { what: 'the posted cards on record' },
  );
  const elsewhere = story.workspace.as(CAST.alice).send(PLACES.partners, 'Look here.');
  const target = { channel: PLACES.partners, ts: elsewhere.ts };
  await story.workspace.as(CAST.alice).click(target, 'approve', { force: true, value: requestId });
  await story.noticeFor(CAST.alice, /can't decide this from here/);
  expect(await refunded(story)).toBe(0);
  await story.directly(CAST.alice).click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Refunded\./);
});
