import { expect, inject, test } from 'vitest';
import { run } from '../commands/support.ts';
import { startStory } from './support.ts';

const WHY = ['--reason', 'The customer called.', '--as', 'ann'];

/** Runs a command on the record of a story, and names the one request that waits. */
async function operate(story: Awaited<ReturnType<typeof startStory>>, verb: string, ...argv: string[]) {
  const environment = { REDIS_URL: inject('redisUrl') };
  const { out } = await run(['pending', '--json'], environment, story.prefix);
  const { id } = JSON.parse(out) as { id: string };
  return run([verb, id, ...argv], environment, story.prefix);
}

test('a request that an operator cancels never runs: the card says by whom and why, and the agent goes on', async () => {
  const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'It was cancelled.' }],
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  expect(await operate(story, 'cancel', ...WHY)).toMatchObject({ code: 0 });
  await thread.shows(/It was cancelled\./);
  await thread.shows(/operator:ann[\s\S]*The customer called\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/withdrawn.*The customer called/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});
