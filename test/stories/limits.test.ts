import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, MANIFEST, type Story, startStory } from './support.ts';

const refund = (amount: number, orderId = 'A-1001') => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason: 'damaged' } }],
});
const withLimit = (limit: string, manifest = MANIFEST) => `${manifest}limits:\n  refund_order: ${limit}\n`;

const usedBy = async ({ redis, prefix }: Story, subject: string, limit = 'refund_order') => {
  const key = `${limit}|requester|${subject}`;
  const [total] = await openRedisStore({ client: redis, prefix }).readTotals([{ key, windowMs: 86_400_000 }]);
  return total;
};

test('a call over the limit of its requester is denied in words, others have their own, and one that fails gives its amount back', async () => {
  const story = await startStory({
    manifest: withLimit('{ sum: input.amount, per: requester, window: 1d, max: 9000 }'),
    replies: [
      refund(5_000),
      { text: 'One.' },
      refund(4_001),
      { text: 'Two.' },
      refund(4_000, 'A-none'),
      { text: 'Three.' },
      refund(4_001),
      { text: 'Four.' },
    ],
  });
  await story.ask('refund 50').shows(/One\./);
  const over = story.ask('refund 40.01');
  await over.shows(/Refund order did not run\. It would exceed the limit of 9000 in 1 day per person/);
  await over.shows(/Two\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/denied.*the limit of 9000/);
  await story.ask('refund nothing').shows(/Three\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/error/);
  expect(await usedBy(story, CAST.requester)).toEqual({ count: 1, sum: 5_000 });
  await story.ask('refund 40.01', { as: CAST.alice }).shows(/Four\./);
  expect(await usedBy(story, CAST.alice)).toEqual({ count: 1, sum: 4_001 });
});

test('a limit on an amount is told as the cards of the tool show it', async () => {
  const titled = MANIFEST.replace(
    '{ module: ./examples/shop/tools/refund-order.ts,',
    `{ module: ./examples/shop/tools/refund-order.ts, title: "Refund {{input.amount | money('USD', 'cents')}}",`,
  );
  const story = await startStory({
    manifest: withLimit('{ sum: input.amount, per: requester, window: 1d, max: 9000 }', titled),
    replies: [refund(9_001), { text: 'Denied.' }],
  });
  const over = story.ask('refund 90.01');
  await over.shows(/did not run\. It would exceed the limit of \$90\.00 in 1 day per person/);
  await over.shows(/Denied\./);
});

test('over a limit with a policy that policy is asked, and what it approves runs and counts', async () => {
  const story = await startStory({
    manifest: withLimit('{ sum: input.amount, per: requester, window: 1d, max: 9000, policy: two }'),
    replies: [refund(5_000), { text: 'One.' }, refund(5_000), { text: 'Two.' }],
  });
  await story.ask('refund 50').shows(/One\./);
  const over = story.ask('refund 50 more');
  await over.shows(/Needs 2 approvals[\s\S]*it exceeds a limit/);
  await over.click(CAST.alice, /Approval needed/, 'approve');
  await over.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await over.shows(/Two\./);
  expect(await usedBy(story, CAST.requester)).toEqual({ count: 2, sum: 10_000 });
});

test('a limit of what runs without approval, in a period of the calendar, leaves out what people approved', async () => {
  const limit = '{ sum: input.amount, when: "!approved", window: month, max: 9000, policy: two }';
  const story = await startStory({
    manifest: withLimit(limit),
    replies: [
      ...[refund(20_000), { text: 'One.' }],
      ...[refund(5_000), { text: 'Two.' }],
      ...[refund(4_001), { text: 'Three.' }],
    ],
  });
  const large = story.ask('refund 200');
  await large.click(CAST.alice, /Approval needed/, 'approve');
  await large.shows(/One\./);
  const small = story.ask('refund 50');
  await small.shows(/Two\./);
  const month = `refund_order@${new Date().toISOString().slice(0, 7)}-01`;
  expect(await usedBy(story, CAST.requester, month)).toEqual({ count: 1, sum: 5_000 });
  const over = story.ask('refund 40.01');
  await over.shows(/Needs 2 approvals[\s\S]*it exceeds a limit/);
  await over.click(CAST.alice, /Approval needed/, 'approve');
  await over.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await over.shows(/Three\./);
  expect(await usedBy(story, CAST.requester, month)).toEqual({ count: 1, sum: 5_000 });
});

test('of two approved actions that only fit one by one under a limit the second does not run, and both are on record', async () => {
  const story = await startStory({
    manifest: withLimit('{ sum: input.amount, per: tool, window: 1d, max: 30000 }'),
    replies: [refund(20_000), refund(20_001, 'A-1002'), { text: 'One.' }, { text: 'Two.' }],
  });
  const first = story.ask('refund 200');
  await first.shows(/Approval needed/);
  const second = story.ask('refund 200.01', { as: CAST.admin });
  await second.shows(/Approval needed/);
  await first.click(CAST.alice, /Approval needed/, 'approve');
  await first.shows(/One\./);
  await second.click(CAST.alice, /Approval needed/, 'approve');
  await second.shows(/It would exceed the limit of 30000 in 1 day for everyone together, so it did not run/);
  // Nothing took its place, and who approved it stays named.
  await second.shows(/^Did not run: Refund order[\s\S]*🚫 [\s\S]*approved by [\s\S]*U0ALICE002/);
  await second.shows(/Two\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/denied.*the limit of 30000/);
  expect((await story.ledger.order('A-1002'))?.refunded ?? 0).toBe(0);
});

test('a condition sees what a limit has counted', async () => {
  const manifest = MANIFEST.replace(
    'when: "input.amount > 10000"',
    `when: 'sum("refund_order") + input.amount > 6000.0 || count("refund_order") >= 5'`,
  );
  const story = await startStory({
    manifest: withLimit('{ sum: input.amount, window: 1d, max: 1000000 }', manifest),
    replies: [refund(5_000), { text: 'One.' }, refund(5_000)],
  });
  await story.ask('refund 50').shows(/One\./);
  await story.ask('refund 50 more').shows(/Approval needed/);
});

test.each([
  ['did-not-run', 'is given back', { count: 0, sum: 0 }],
  ['run-again', 'counts once', { count: 1, sum: 1 }],
])(
  'a call without approval whose outcome is unknown, %s as a person says, %s',
  async (verdict, _, expected) => {
    const server = await startRecordingServer((response) => {
      response.statusCode = server.requests.length === 1 ? 504 : 200;
      response.end('{}');
    });
    onTestFinished(() => server.stop());
    const story = await startStory({
      manifest: `${MANIFEST.slice(0, MANIFEST.indexOf('tools:'))}tools:
  book:
    description: Books.
    effect: once
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { require: never }
limits:
  book: { per: requester, window: 1d, max: 1 }
`,
      replies: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'Good to know.' }],
    });
    const thread = story.ask('book it');
    await thread.click(CAST.alice, /Outcome unknown: Book/, verdict);
    expect(await usedBy(story, CAST.requester, 'book')).toEqual({ count: 1, sum: 1 });
    const modal = await story.modalFor(CAST.alice);
    await story.workspace.as(CAST.alice).submit(modal.id, { reason: 'I looked.' });
    await thread.shows(/Good to know\./);
    await expect.poll(() => usedBy(story, CAST.requester, 'book')).toEqual(expected);
    expect(server.requests).toHaveLength(verdict === 'run-again' ? 2 : 1);
  },
);
