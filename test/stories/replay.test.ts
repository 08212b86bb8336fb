import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { newFolder, run, writeManifest } from '../commands/support.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { CAST, startStory } from './support.ts';

const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'damaged' } }],
});

const manifestWith = (tools: string, rest = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: false } }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, notify: { direct_messages: false } }
  boss: { approvers: [${CAST.admin}], notify: { direct_messages: false } }
tools:
${tools}
${rest}`;
const refundWith = (rules: string) =>
  `  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: [${rules}] }\n`;
const deleteWith = (policy: string) =>
  `  delete_customer: { module: ./examples/shop/tools/delete-customer.ts, approval: { policy: ${policy} } }\n`;

const DENY = '{ require: deny, when: "input.amount > 50000", reason: "Finance does that." }';
const THEN =
  refundWith(`${DENY}, { policy: default, when: "input.amount > 10000" }, { require: never }`) +
  deleteWith('default');

/** Makes a record with a call of each end: run, approved, rejected, denied and waiting. */
async function makeRecord() {
  const story = await startStory({
    manifest: manifestWith(THEN),
    replies: [
      refund(5_000),
      { text: 'One.' },
      refund(20_000),
      { text: 'Two.' },
      refund(15_000),
      { text: 'Three.' },
      refund(60_000),
      { text: 'Four.' },
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo' } }] },
    ],
  });
  await story.ask('refund 50').shows(/One\./);
  const approved = story.ask('refund 200');
  await approved.click(CAST.alice, /Approval needed/, 'approve');
  await approved.shows(/Two\./);
  const rejected = story.ask('refund 150');
  await rejected.click(CAST.bruno, /Approval needed/, 'reject');
  const modal = await story.modalFor(CAST.bruno, /You're about to reject/);
  await story.workspace.as(CAST.bruno).submit(modal.id, { reason: 'Not damaged' });
  await rejected.shows(/Three\./);
  await story.ask('refund 600').shows(/Four\./);
  await story.ask('delete Tomo').shows(/Approval needed/);
  return story;
}

test('a replay lists what a weaker, a stronger and an incomplete manifest would change, from Redis and from an export alike', async () => {
  const { prefix } = await makeRecord();
  const environment = { REDIS_URL: inject('redisUrl') };
  const exported = join(newFolder(), 'audit.jsonl');
  const log = await run(['audit', '--json'], environment, prefix);
  writeFileSync(exported, log.out);

  const replay = async (tools: string, ...more: string[]) => {
    const candidate = writeManifest(await withBuiltTools(manifestWith(tools)));
    const args = ['manifest', 'replay', candidate, ...more];
    const [inRedis, inFile] = [
      await run(args, environment, prefix),
      await run([...args, '--from', exported]),
    ];
    expect(inRedis).toMatchObject({ code: 0, error: '' });
    expect(inFile).toEqual(inRedis);
    return inRedis.out;
  };
  const changes = async (tools: string) => JSON.parse(await replay(tools, '--json')).changes;
  const none = {
    'not-asked': 0,
    'not-denied': 0,
    approvals: 0,
    approvers: 0,
    asked: 0,
    denied: 0,
    'not-judged': 0,
    same: 0,
  };

  expect(await changes(THEN)).toEqual({ ...none, same: 5 });
  const weaker = refundWith('{ require: never, when: "input.amount <= 18000" }, {}') + deleteWith('boss');
  expect(await changes(weaker)).toEqual({ ...none, 'not-asked': 1, 'not-denied': 1, approvers: 1, same: 2 });
  const stronger =
    refundWith('{ require: deny, when: "input.amount > 16000", reason: "Too much." }, { policy: two }') +
    deleteWith('two');
  expect(await changes(stronger)).toEqual({ ...none, approvals: 2, asked: 1, denied: 1, same: 1 });
  expect(await changes(deleteWith('default'))).toEqual({ ...none, 'not-judged': 4, same: 1 });

  expect(await replay(stronger)).toMatch(
    /^ +1 {2}denied, was not before +refund_order .* denied: Too much\. +20/m,
  );
  const words = await replay(weaker);
  const alike = `approval by 1 of ${[CAST.alice, CAST.bruno].sort().join(', ')}`;
  expect(words).toMatch(/^5 calls judged; 3 listed here\.$/m);
  expect(words).toMatch(
    new RegExp(`^ +1  no longer asked +refund_order +${alike} +runs without approval +20.*C.*~`, 'm'),
  );
  expect(words).toMatch(new RegExp(`^ +1  no longer denied +refund_order +denied +${alike} +20`, 'm'));
  expect(words).toMatch(
    new RegExp(`^ +1  other approvers +delete_customer +${alike} +approval by 1 of ${CAST.admin} +20`, 'm'),
  );
  expect(await replay(deleteWith('default'))).toMatch(
    /cannot be judged +refund_order .*there is no such tool/,
  );
  // Nothing was written.
  expect(await run(['audit', '--json'], environment, prefix)).toEqual(log);
});
