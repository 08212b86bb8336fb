import { expect, onTestFinished, test } from 'vitest';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { effectRows } from './effect-rows.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };
const unsignedManifest = workshopManifest().replace(
  'approval: { policy: default }',
  'approval: { require: never }',
);

/** A tool that needs no approval has taken effect, and its process is killed before the turn ends. */
async function dieAfterEffect(name: string, texts: readonly string[], next = unsignedManifest) {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  onTestFinished(() => workshop.release('after'));
  const story = await startStory({
    manifest: unsignedManifest,
    replies: [{ calls: [workshop.call(name)] }, ...texts.map((text) => ({ text }))],
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, unsignedManifest);
  const thread = story.ask('make a part');
  await workshop.has(1, 'effects');
  await doomed.kill();
  await workshop.release('after');
  const parsed = parseManifest(await withBuiltTools(next), { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  await story.startOwnBot({ manifest: parsed.manifest });
  return { story, thread, workshop };
}

test('an action whose process was killed in the middle is unknown: those who may resolve it are asked, and it does not run again', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Good to know.' }],
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, workshopManifest());
  const thread = story.ask('press a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  await doomed.kill();

  await story.startOwnBot({ timing: { ...MORTAL, ackWithinMs: { click: 30_000, submission: 30_000 } } });
  await thread.shows(/Outcome unknown: Press part[\s\S]*It ran[\s\S]*It didn't run[\s\S]*Run again/);
  await thread.shows(new RegExp(`may or may not have happened.*<@${CAST.admin}>`));
  await thread.click(CAST.alice, /Outcome unknown: Press part/, 'ran');
  const refused = await story.modalFor(CAST.alice);
  expect(await story.workspace.as(CAST.alice).submit(refused.id, { reason: 'I believe so.' })).toMatchObject({
    errors: { verdict: "You can't confirm the outcome of this action." },
  });

  await story.directly(CAST.admin).click(CAST.admin, /Outcome unknown: Press part[\s\S]*It ran/, 'ran');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
  await thread.shows(/Good to know\./);
  await thread.shows(/Ran: Press part[\s\S]*Ran · confirmed by[\s\S]*on the bench/);
  expect(story.toldOfCalls().at(-1)).toMatch(/"ran".*It lies on the bench/);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});

test('an outcome whose process was killed while the tool looked it up is looked up by the next one', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  await workshop.hold('look');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('engrave_part')] }, { text: 'It is engraved.' }],
    timing: { ...MORTAL, heartbeatMs: 3_600_000 },
    sweep: SWEEP,
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, workshopManifest());
  const thread = story.ask('engrave a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'looks');
  await doomed.kill();
  await workshop.release('look');

  await story.startOwnBot();
  await thread.shows(/It is engraved\./);
  await thread.shows(/Ran: Engrave part[\s\S]*Ran · confirmed by[\s\S]*the tool/);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});

test('an idempotent action whose process was killed in the middle is tried again with the same key and takes effect once', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('stamp_part')] }, { text: 'Stamped.' }],
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, workshopManifest());
  const thread = story.ask('stamp a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  await doomed.kill();

  await story.startOwnBot();
  await thread.shows(/Stamped\./);
  await thread.shows(/Done: Stamp part/);
  expect(await workshop.linesOf('tries')).toHaveLength(2);
  expect(await workshop.keys('tries')).toEqual(await workshop.keys('effects'));
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});

test('a call without approval whose process was killed in the middle is unknown: a person is asked, and it runs again only if they say so', async () => {
  const { story, thread, workshop } = await dieAfterEffect('press_part', ['Pressed.']);
  await thread.shows(/Outcome unknown: Press part[\s\S]*It ran[\s\S]*It didn't run[\s\S]*Run again/);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  const { arguments: given } = workshop.call('press_part');
  const body = { tool: 'press_part', arguments: given, requesters: [CAST.requester] };
  expect(await effectRows(story)).toMatchObject([
    { event: 'effect-started', body },
    { event: 'effect-unknown', body },
  ]);
  await story.directly(CAST.admin).click(CAST.admin, /Outcome unknown: Press part[\s\S]*It ran/, 'ran');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
  await thread.shows(/Pressed\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});

test('a call without approval that a person has run again takes effect with the same key', async () => {
  const { story, thread, workshop } = await dieAfterEffect('press_part', ['Pressed.']);
  await thread.shows(/Outcome unknown: Press part[\s\S]*Run again/);
  await story
    .directly(CAST.admin)
    .click(CAST.admin, /Outcome unknown: Press part[\s\S]*Run again/, 'run-again');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'The bench is empty.' });
  await thread.shows(/Pressed\./);
  expect(await workshop.linesOf('effects')).toHaveLength(2);
  expect(await workshop.keys('effects')).toHaveProperty('size', 1);
});

test('an idempotent call without approval whose process was killed is run again with the same key and takes effect once', async () => {
  const { thread, workshop } = await dieAfterEffect('stamp_part', ['Stamped.']);
  await thread.shows(/Stamped\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  expect(await workshop.keys('tries')).toHaveProperty('size', 1);
  expect(await workshop.linesOf('tries')).toHaveLength(2);
});

test.each([
  ['press_part', 'denies it', '{ require: deny, reason: Not now. }'],
  ['press_part', 'asks for it', '{ policy: default }'],
  ['press_part', 'has no such tool', undefined],
  ['stamp_part', 'denies it', '{ require: deny, reason: Not now. }'],
  ['stamp_part', 'asks for it', '{ policy: default }'],
  ['stamp_part', 'has no such tool', undefined],
] as const)(
  'a call of %s that took effect before its process was killed is asked about, if the manifest meanwhile %s',
  async (name, _how, rule) => {
    const next =
      rule === undefined
        ? unsignedManifest.replace(/tools:[\s\S]*$/, 'tools: {}\n')
        : unsignedManifest.replace('{ require: never }', rule);
    const { story, thread, workshop } = await dieAfterEffect(name, ['Good to know.'], next);
    await thread.click(CAST.admin, /Outcome unknown: (Press|Stamp) part/, 'ran');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
    await thread.shows(/Good to know\./);
    expect(JSON.stringify(story.repliesIn(thread))).not.toMatch(/[Nn]ot run|did not run/);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  },
);

test('a tool that can look its call up is asked before any person', async () => {
  const { thread, workshop } = await dieAfterEffect('engrave_part', ['Engraved.']);
  await thread.shows(/Engraved\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
});
