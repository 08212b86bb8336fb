import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

const { alice, requester: remi } = CAST;
const SHORT_LEASES = {
  timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
  sweep: { everyMs: 100, overdueMs: 0 },
  withoutBot: true,
} as const;

test('an Undo that was clicked before its process was killed is asked by the next one, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'house-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'doors');
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}], direct_messages: false } }
tools: { house: { module: ./test/stories/fixtures/undo-tools.ts } }
`;
  const story = await startStory({
    manifest,
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'front' } }] },
      { text: 'Locked it.' },
      { text: 'It is open again.' },
    ],
    ...SHORT_LEASES,
  });
  const doomed = await startDoomedBot(story, manifest);
  const thread = story.ask('lock the front door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Locked it\./);
  await thread.click(remi, /Undo until/, 'undo');
  await doomed.kill();
  await story.startOwnBot();
  await thread.click(remi, /Undo until/, 'undo');
  await story.noticeFor(remi, /already been requested/);
  await thread.click(alice, /Approval needed: Unlock the front door/, 'approve');
  await thread.shows(/It is open again\./);
  expect(await readFile(file, 'utf8')).toBe('locked front\nunlocked front with L-front\n');
}, 180_000);
