import { expect, test } from 'vitest';
import { startDoomedBot } from '../stories/doomed-bot.ts';
import { CAST } from '../stories/support.ts';
import { approve, command, enrol, linkFor, post, REFUND, readApproval, startSignedStory } from './signing.ts';
import { SoftwareKey } from './software-key.ts';

const { alice, admin } = CAST;

test('a process that dies after the assertion and before the vote, or after the vote and before the start: nothing is lost, nothing runs twice', async () => {
  const story = await startSignedStory({
    replies: [REFUND, { text: 'First.' }, REFUND, { text: 'Second.' }],
    timing: { heartbeatTimeoutMs: 1_500, heartbeatMs: 100, leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const { workspace, asProcess, bot } = story;
  const ann = await enrol(story, alice, new SoftwareKey(story.url, { counter: 1 }));
  await bot.stop();
  const doomed = await startDoomedBot(asProcess, asProcess.text, asProcess.environment);
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  const { terms, challenge } = await readApproval(story, ann.browser, nonce);
  const assertion = { terms, ...ann.key.sign(challenge) };
  // The vote waits for Slack when the process dies.
  const before = workspace.calls.filter(({ method }) => method === 'users.info').length;
  workspace.fail('users.info', { kind: 'slow', milliseconds: 600_000 });
  const lost = post(story, ann.browser, `approve/${nonce}`, assertion).catch(() => 'lost' as const);
  await workspace.until(
    () => workspace.calls.filter(({ method }) => method === 'users.info').length > before,
    { what: 'the check of the person' },
  );
  await doomed.kill();
  expect(await lost).toBe('lost');
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
  const next = await startDoomedBot(asProcess, asProcess.text, asProcess.environment);
  // The browser sends the same again: nothing of it was used up.
  expect(await post(story, ann.browser, `approve/${nonce}`, assertion)).toMatchObject({ status: 200 });
  await thread.shows(/First\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);

  await command(story, admin, 'freeze all for the test');
  await story.noticeFor(admin, /Frozen: all actions/);
  const other = story.ask('refund it once more');
  const link = await linkFor(story, alice, () => other.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, ann, link)).toMatchObject({ status: 200 });
  await other.shows(/for the test/);
  await next.kill();
  await story.startAgain();
  await command(story, admin, 'unfreeze all');
  await other.shows(/Second\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(24_000);
});
