import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { type Place, plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

test('a snapshot copied to a new server: what waited goes on, what ran does not run again, and what was running is asked about', async () => {
  const workshop = await openWorkshop();
  const call = { calls: [workshop.call('press_part')] };
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [call, call, { text: 'Second part done.' }, call, { text: 'Third part done.' }],
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const on = (url: string) => ({
    ...story.setup,
    settings: { ...story.setup.settings, redis: { mode: 'single' as const, urls: [url] } },
  });

  let folder = '';
  const old = await startPrivateRedis((place) => {
    folder = place.folder;
    return plainArguments(place);
  });
  onTestFinished(() => old.stop());
  const first = await startDoomedBot({ setup: on(old.url) }, workshopManifest());
  await workshop.hold('after');
  const running = story.ask('press the first part');
  await running.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  const done = story.ask('press the second part');
  await done.click(CAST.alice, /Approve/, 'approve');
  await done.shows(/Second part done\./);
  const waiting = story.ask('press the third part');
  await waiting.shows(/Approval needed/);

  const client = new Redis(old.url);
  await client.save();
  client.disconnect();
  await first.kill();
  const restored = await startPrivateRedis((place: Place) => {
    copyFileSync(join(folder, 'dump.rdb'), join(place.folder, 'dump.rdb'));
    return plainArguments(place);
  });
  onTestFinished(() => restored.stop());
  await old.stop();

  await workshop.release('after');
  const bot = await story.startOwnBot(on(restored.url));
  await running.shows(/Outcome unknown: Press part/);
  await waiting.click(CAST.alice, /Approval needed/, 'approve');
  await waiting.shows(/Third part done\./);
  expect(await workshop.linesOf('effects')).toHaveLength(3);
  expect(await workshop.keys('effects')).toHaveProperty('size', 3);
  expect((await verifyChain(bot.context.store)).problems).toEqual([]);
});
