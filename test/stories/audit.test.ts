import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { Keys } from '../../src/store/port/keys.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

test('admins are told that the audit log is not signed any more because somebody changed it in Redis', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const story = await startStory({
    manifest: MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`),
    withoutBot: true,
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 20_000, reason: 'x' } }] },
      { text: 'Refunded.' },
    ],
  });
  const auditKey = { text: createKeyPair().privatePem };
  const settings = { ...story.setup.settings, auditKey, auditStateFile: join(folder, 'state') };
  const told = () =>
    story.workspace
      .messagesIn(story.workspace.directMessages(CAST.admin))
      .filter(({ text }) => /audit log isn't signed any more/.test(text));
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });

  const first = await story.startOwnBot({ settings });
  const thread = story.ask('refund 200 euros');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await story.deliveredAll();
  // A process signs what is left when it ends.
  await first.stop();
  const { checkpoint: signed } = await store.auditEnds();
  expect(signed?.n).toBeGreaterThan(0);
  expect(told()).toEqual([]);

  const { n = 0, text = '' } = signed ?? {};
  const key = new Keys(story.prefix).shared('checkpoints');
  await story.redis.xadd(key, `${n + 1}-0`, 'h', 'forged', 'b', text);
  await story.startOwnBot({ settings });
  await story.directly(CAST.admin).shows(/audit log isn't signed any more[\s\S]*countersign audit verify/);
  const [notice] = told();
  expect(notice?.text).toContain(`Checkpoint ${n} is the last one I trust`);
  expect((await store.auditEnds()).checkpoint).toMatchObject({ n: n + 1 });
});
