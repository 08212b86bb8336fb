import { expect, inject, onTestFinished, test } from 'vitest';
import { run } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const SILENT = { heartbeatTimeoutMs: 1_500, heartbeatMs: 3_600_000 };
const SWEEP = { everyMs: 100, overdueMs: 0 };
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
    sweep: SWEEP,
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approve/);
  expect(await operate(story, 'cancel', ...WHY)).toMatchObject({ code: 0 });
  await thread.shows(/It was cancelled\./);
  await thread.shows(/operator:ann[\s\S]*The customer called\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/withdrawn.*The customer called/);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('an unknown outcome that an operator has run again runs once more', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
    timing: SILENT,
    sweep: SWEEP,
  });
  onTestFinished(() => workshop.release('after'));
  const thread = story.ask('press a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  await thread.shows(/It did not run/);
  expect(await operate(story, 'resolve', '--run-again', ...WHY)).toMatchObject({ code: 0 });
  await workshop.has(2, 'effects');
  await workshop.release('after');
  await thread.shows(/Pressed\./);
});
