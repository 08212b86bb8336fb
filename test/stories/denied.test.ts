import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { CAST, type Story, startStory } from './support.ts';

const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });

const manifestWith = (rules: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: [${rules}]
`;

const DENY =
  '{ require: deny, when: "input.amount > 50000", reason: "Refunds over $500 are made by Finance." }';

async function deniedRows({ redis, prefix }: Story) {
  const rows: unknown[] = [];
  for await (const { event, body } of openRedisStore({ client: redis, prefix }).exportAudit())
    if (event === 'denied') rows.push(JSON.parse(body));
  return rows;
}

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

test('a denied call does not run: the model and the requester read why, nobody is asked, and it is on record', async () => {
  const story = await startStory({
    manifest: manifestWith(`${DENY}, { require: never }`),
    replies: [{ calls: [refund(60_000), refund(100)] }, { text: 'Only the small one.' }],
  });
  const thread = story.ask('refund order A-1001 twice');
  await thread.shows(/Only the small one\./);
  await thread.shows(/Refund order did not run\. Refunds over \$500 are made by Finance\./);
  expect(story.toldOfCalls()[0]).toContain('Refunds over $500 are made by Finance.');
  expect(await refunded(story)).toBe(100);
  expect(await deniedRows(story)).toMatchObject([
    {
      tool: 'refund_order',
      arguments: refund(60_000).arguments,
      requesters: [CAST.requester],
      reason: 'Refunds over $500 are made by Finance.',
    },
  ]);
});

test('an approved action that a rule has come to deny does not start, and its requester is told', async () => {
  const manifest = manifestWith('{ policy: default }');
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(60_000)] }, { text: 'It cannot be refunded here.' }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Needs 1 approval/);
  const changed = parseManifest(await withBuiltTools(manifestWith(`${DENY}, { policy: default }`)), {
    file: 'story.yml',
    environment: {},
  });
  if (!changed.ok) throw new Error('The changed manifest has errors');
  await bot.toolbox.replace(changed.manifest);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/A rule does not allow this any more: Refunds over \$500 are made by Finance\./);
  await thread.shows(/Refund order did not run\. Refunds over \$500 are made by Finance\./);
  await thread.shows(/It cannot be refunded here\./);
  expect(await refunded(story)).toBe(0);
  expect(await deniedRows(story)).toHaveLength(1);
});

test('a call that only reads and that a limit denies is on record, with everybody whose words led to it', async () => {
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  read_order: { module: ./examples/shop/tools/read-order.ts, approval: { require: never } }
limits:
  read_order: { per: requester, window: 1d, max: 1 }
`;
  const look = { name: 'read_order', arguments: { orderId: 'A-1001' } };
  const story = await startStory({
    manifest,
    replies: [{ calls: [look] }, { text: 'It is paid.' }, { calls: [look] }, { text: 'Not today.' }],
  });
  const thread = story.ask('read order A-1001');
  await thread.shows(/It is paid\./);
  story.workspace.as(CAST.bruno).send(thread.channel, 'I wonder too', { threadTs: thread.ts });
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const onRecord = async () => JSON.stringify(await store.readThread(`${thread.channel}:${thread.ts}`));
  await expect.poll(onRecord).toContain('I wonder too');
  story.ask('and once more', { threadTs: thread.ts });
  await thread.shows(/Not today\./);
  expect(await deniedRows(story)).toMatchObject([
    {
      tool: 'read_order',
      arguments: look.arguments,
      requesters: [CAST.requester],
      context_authors: [CAST.bruno],
      reason: expect.stringContaining('the limit of 1'),
    },
  ]);
});
