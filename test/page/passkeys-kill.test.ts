import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startDoomedBot } from '../stories/doomed-bot.ts';
import { CAST } from '../stories/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import {
  approve,
  command,
  delegate,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  SIGNED,
  startSignedStory,
} from './signing.ts';
import { SoftwareKey } from './software-key.ts';

const { alice, bruno, admin } = CAST;

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

test('a process that dies as soon as a delegation is signed: the next one knows it, and the delegate approves', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      `approvers: [${alice}, ${bruno}], notify`,
      `approvers: [${alice}], delegation: true, notify`,
    ),
    replies: [REFUND, { text: 'Refunded.' }],
    timing: { heartbeatTimeoutMs: 1_500, heartbeatMs: 100, leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const { asProcess, bot, redis, prefix } = story;
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  await bot.stop();
  const doomed = await startDoomedBot(asProcess, asProcess.text, asProcess.environment);
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  const nonce = await delegate(story, alice, bruno);
  const { terms, challenge } = await readApproval(story, ann.browser, nonce);
  const signing = post(story, ann.browser, `approve/${nonce}`, { terms, ...ann.key.sign(challenge) });
  const events = async () => {
    const found: string[] = [];
    for await (const { event } of openRedisStore({ client: redis, prefix }).exportAudit()) found.push(event);
    return found;
  };
  await expect.poll(events, { timeout: PATIENCE_MS }).toContain('delegation-signed');
  await doomed.kill();
  await signing.catch(() => 'lost');
  await story.startAgain();
  const link = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  expect(await approve(story, ben, link)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});
