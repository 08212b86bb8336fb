import { expect, test } from 'vitest';
import { CAST, PLACES, startStory } from './support.ts';

const { alice, bruno } = CAST;
const refund = {
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } }],
};
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}, ${bruno}], delegation: true, notify: { direct_messages: false } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

test('the status of an approver is on the card as text, costs no call, and changes nothing about who may approve', async () => {
  const story = await startStory({ manifest, replies: [refund, { text: 'Refunded.' }] });
  const { workspace } = story;
  workspace.as(bruno).setStatus('On vacation <!channel>', { emoji: ':palm_tree:' });
  // A status that has ended is none.
  workspace.as(alice).setStatus('In a meeting', { expiration: Math.floor(Date.now() / 1_000) - 60 });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed.*\(status: On vacation <!channel>\)/s);
  expect(JSON.stringify(card.blocks)).not.toMatch(/In a meeting|"broadcast"/);
  const asked = workspace.calls.filter(({ method }) => /^users\.(info|getPresence|profile)/.test(method));
  expect(asked.map(({ method }) => method)).toEqual(asked.map(() => 'users.info'));
  expect(asked.length).toBeLessThanOrEqual(3);
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('a delegation to somebody says what their status is', async () => {
  const story = await startStory({ manifest });
  story.workspace.as(bruno).setStatus('On vacation');
  await story.workspace
    .as(alice)
    .command('/countersign', `delegate <@${bruno}> for 2 days`, { channel: PLACES.general });
  await story.workspace.until(
    () =>
      story.workspace
        .ephemeralsFor(alice)
        .some(({ blocks }) => JSON.stringify(blocks).includes('Their status in Slack now: On vacation')),
    { what: 'the answer' },
  );
});
