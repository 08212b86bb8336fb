import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

/** Longer than a command waits for Redis, and far longer than an attempt may be silent. */
const AWAY_MS = 12_000;

test('a result that arrives while Redis is away is kept, and told when Redis is back', async () => {
  const server = await startPrivateRedis(plainArguments);
  onTestFinished(() => server.stop());
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  const workshop = await openWorkshop();
  await workshop.hold('after');
  onTestFinished(() => workshop.release('after'));
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
    timing: { heartbeatTimeoutMs: 2_000, heartbeatMs: 200 },
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const { settings } = story.setup;
  await story.startOwnBot({ settings: { ...settings, redis: { mode: 'single', urls: [server.url] } } });
  const thread = story.ask('make a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  await admin.call('CLIENT', 'PAUSE', String(AWAY_MS), 'ALL');
  await workshop.release('after');
  await thread.shows(/Done: Press part/);
  await thread.shows(/Pressed\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});
