import { expect, test } from 'vitest';
import { CAST, MANIFEST, startStory } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
const manifest = MANIFEST.replace(
  'refund_order: { module: ./examples/shop/tools/refund-order.ts,',
  `refund_order: { module: ./examples/shop/tools/refund-order.ts, title: "Refund {{input.amount | money('USD', 'cents')}}", done: "Refunded {{input.amount | money('USD', 'cents')}}",`,
);
const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });
const look = { name: 'read_order', arguments: { orderId: 'A-1001' } };

test('a stopped turn says what had already run, by the record; what only reads is not named', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(500), look] }, { text: ['I refunded ', 'a million'], hang: 2 }],
  });
  const thread = story.ask('refund and tell me');
  await story.workspace.until(() => story.model.requests.length === 2, { what: 'the second call' });
  story.ask('stop', { threadTs: thread.ts });
  const said = await thread.shows(/Stopped\./);
  expect(said.text).toMatch(/Stopped\. Already done: Refunded \$5\.00\.$/);
});

test('a stop of what waits names what it withdrew, what was too late, and what had run', async () => {
  const story = await startStory({
    manifest,
    replies: [
      { calls: [refund(500)] },
      { calls: [refund(12_000), refund(13_000)] },
      { text: "I won't retry." },
    ],
  });
  const thread = story.ask('refund all of it');
  await thread.shows(/Approval needed: Refund \$130\.00/);
  await thread.click(bruno, /Approval needed: Refund \$130\.00/, 'approve');
  await thread.shows(/Done: Refunded \$130\.00/);
  story.workspace.as(alice).send(thread.channel, 'stop', { threadTs: thread.ts });
  await thread.shows(/You have nothing to stop/);
  story.ask('stop', { threadTs: thread.ts });
  const said = await thread.shows(/Stopped\./);
  expect(said.text).toBe(
    'Stopped. Withdrawn: Refund $120.00. Already done: Refunded $5.00; Refunded $130.00.',
  );
  await thread.shows(/I won't retry\./);
  expect(JSON.stringify(story.repliesIn(thread))).toContain(remi);
});

test('a stop that comes after the answer of the model, and before people are asked, withdraws what they are asked', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(12_000)] }, { text: 'Not refunded.' }],
  });
  const isLookUp = (given: Readonly<Record<string, unknown>>) => given.user === alice;
  story.workspace.fail('users.info', { kind: 'slow', milliseconds: 3_000 }, { when: isLookUp });
  const thread = story.ask('refund it');
  await story.workspace.until(
    () =>
      story.workspace.calls.some(
        ({ method, arguments: given }) => method === 'users.info' && isLookUp(given),
      ),
    { what: 'the look-up of an approver' },
  );
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/Withdrawn: Refund \$120\.00/);
  await thread.shows(/Not refunded\./);
});
