import { describe, expect, onTestFinished, test } from 'vitest';
import { CAST, startStory } from './support.ts';
import { giveUpAttempts, openWorkshop, SILENT_WORKERS, workshopManifest } from './workshop.ts';

const manifest = (refund: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, notify: { direct_messages: false } }
  one: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  read_order: { module: ./examples/shop/tools/read-order.ts, approval: { require: never } }
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    preview: ${refund}
  pages:
    module: ./test/stories/fixtures/preview-tools.ts
    approval:
      - { match: edit_page, policy: one }
      - { match: "*", require: never }
`;
const ORDER = `
      tool: read_order
      input: { orderId: "{{input.orderId}}" }
      before: "Refunded so far: {{output.refunded | money('USD', 'cents')}}"
      after: "Refunds {{input.amount | money('USD', 'cents')}} of {{output.amount | money('USD', 'cents')}}"`;
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

test('a preview whose base changes between approval and start is asked anew, with both versions', async () => {
  const story = await startStory({
    manifest: manifest(ORDER),
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  const first = await thread.shows(/Approval needed[\s\S]*Before[\s\S]*Refunded so far: \$0\.00/);
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  await story.ledger.refund('A-1001', 500, 'another-refund');
  await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/What it would change is different from what was approved/);
  const anew = await thread.shows(
    /Approval needed[\s\S]*Needs 2 approvals[\s\S]*has changed since it was approved[\s\S]*so far: \$0\.00[\s\S]*so far: \$5\.00/,
  );
  expect(anew.ts).not.toBe(first.ts);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 500 });
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_500 });
});

test('a preview of which the answer lacks a part says so on the card', async () => {
  const story = await startStory({
    manifest: manifest(ORDER.replace('output.refunded', 'output.refnded')),
    replies: [{ calls: [refund] }],
  });
  await story
    .ask('refund order A-1001')
    .shows(
      /Before[\s\S]*Refunded so far: \(none\)[\s\S]*After[\s\S]*The preview is incomplete: what was read has no “refnded”\./,
    );
});

test('a retry is not compared with its preview, which its own first attempt may have changed', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('drill_part')] }, { text: 'Drilled.' }],
    ...SILENT_WORKERS,
  });
  onTestFinished(() => workshop.release('after'));
  const recorded = async () => {
    const [key = ''] = await story.redis.keys(`{${story.prefix}}:run:*`);
    return story.redis.hmget(key, 'state', 'attempts');
  };
  const thread = story.ask('drill a part');
  await thread.shows(/holes: 0/);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  await giveUpAttempts(story);
  await expect.poll(recorded).toEqual(['ready', '1']);
  // The first attempt ends too late to count.
  await workshop.release('after');
  await thread.shows(/Drilled\./);
  await thread.shows(/Done: Drill part/);
  expect(await workshop.linesOf('tries')).toHaveLength(2);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});

describe('a preview that does not work is said so, and the call can be decided', () => {
  test.each([
    ['hangs', 'hang_read', /No preview: it took too long\./],
    ['throws', 'fail_read', /No preview: it couldn't be computed\./],
  ])('because it %s', async (_, tool, words) => {
    const preview = `{ tool: ${tool}, input: { name: x }, before: "{{output}}", after: "" }`;
    const story = await startStory({
      manifest: manifest(preview.replace('after: ""', 'after: "-"')),
      replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    });
    const thread = story.ask('refund order A-1001');
    await thread.shows(words);
    await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
    await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');
    await thread.shows(/Refunded\./);
    expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  });
});

test('a preview cannot write: a tool with effects is refused, and the card has no preview', async () => {
  const preview = '{ tool: write_row, input: { name: x }, before: "{{output.writes}}", after: "-" }';
  const story = await startStory({
    manifest: manifest(preview),
    replies: [
      { calls: [refund] },
      { calls: [{ name: 'count_writes', arguments: {} }] },
      { text: 'Checked.' },
    ],
    withoutBot: true,
  });
  const bot = await story.startOwnBot();
  expect(bot.toolbox.problems()).toContainEqual(
    expect.stringMatching(/refund_order: a preview can only read, and "write_row" is not declared/),
  );
  const thread = story.ask('refund order A-1001');
  await thread.shows(/No preview: it couldn't be computed\./);
  await thread.click(CAST.requester, /Approval needed/, 'withdraw');
  await thread.shows(/Checked\./);
  expect(story.toldOfCalls().at(-1)).toBe('{"writes":0}');
});

test("a module's own preview is a diff of what would change, and cannot call what writes either", async () => {
  const story = await startStory({
    manifest: manifest(ORDER),
    replies: [
      { calls: [{ name: 'edit_page', arguments: { name: 'home' } }] },
      { calls: [{ name: 'count_writes', arguments: {} }] },
      { text: 'Checked.' },
    ],
  });
  const thread = story.ask('edit the page');
  const card = await thread.shows(/Edit the page home/);
  expect(JSON.stringify(card.blocks)).toContain('- line 5\\n+ line of home');
  await thread.click(CAST.alice, /Edit the page home/, 'approve');
  await thread.shows(/Checked\./);
  expect(story.toldOfCalls().at(-1)).toBe('{"writes":0}');
});
