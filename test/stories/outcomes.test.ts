import { describe, expect, test } from 'vitest';
import { effectRows } from './effect-rows.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };
const free = workshopManifest().replace('approval: { policy: default }', 'approval: { require: never }');

async function play(name: string, manifest: string, ...texts: readonly string[]) {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call(name)] }, ...texts.map((text) => ({ text }))],
    sweep: SWEEP,
    withoutBot: true,
  });
  await story.startOwnBot();
  const thread = story.ask('make a part');
  if (manifest !== free) await thread.click(CAST.alice, /Approve/, 'approve');
  return { story, thread, workshop };
}

describe.each([
  ['approved', workshopManifest()],
  ['without approval', free],
])('a tool %s', (_, manifest) => {
  test('that throws after its effect has an unknown outcome: people read the error and confirm, and it does not run again', async () => {
    const { story, thread, workshop } = await play('cut_part', manifest, 'Good to know.');
    await thread.shows(
      /Outcome unknown: Cut part[\s\S]*may or may not have happened[\s\S]*the saw answered 504/,
    );
    if (manifest !== free)
      await thread.shows(new RegExp(`may or may not have happened[\\s\\S]*<@${CAST.admin}>`));
    await thread.click(CAST.admin, /Outcome unknown: Cut part/, 'ran');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
    await thread.shows(/Good to know\./);
    expect(story.toldOfCalls().at(-1)).toMatch(/"ran".*It lies on the bench/);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });

  test('that says that it did nothing has failed, and nobody is asked', async () => {
    const { story, thread, workshop } = await play('find_part', manifest, 'There is none.');
    await thread.shows(/There is none\./);
    expect(story.toldOfCalls().at(-1)).toMatch(/"error".*there is no such part/);
    expect(await workshop.linesOf('effects')).toHaveLength(0);
    expect(JSON.stringify(story.repliesIn(thread))).not.toContain('Outcome unknown');
  });

  test('that is idempotent and throws is tried again with the same key, and takes effect once', async () => {
    const { thread, workshop } = await play('coat_part', manifest, 'Coated.');
    await thread.shows(/Coated\./);
    expect(await workshop.linesOf('tries')).toHaveLength(2);
    expect(await workshop.keys('tries')).toHaveProperty('size', 1);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });

  test('that is idempotent and is refused at a later attempt has an unknown outcome: the first attempt may have run', async () => {
    const { thread, workshop } = await play('bend_part', manifest);
    await thread.shows(/Outcome unknown: Bend part/);
    expect(await workshop.keys('tries')).toHaveProperty('size', 1);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });
});

test('the audit log has the error of a call without approval whose outcome is unknown', async () => {
  const { story, thread } = await play('cut_part', free);
  await thread.shows(/Outcome unknown: Cut part/);
  expect((await effectRows(story)).map(({ event }) => event)).toEqual(['effect-started', 'effect-unknown']);
});
