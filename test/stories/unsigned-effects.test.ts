import { expect, onTestFinished, test } from 'vitest';
import { startBot } from '../../src/start-bot.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };
/** A second process takes its time to start on a busy machine. */
const WITH_A_PROCESS_MS = 180_000;

const manifest = workshopManifest().replace('approval: { policy: default }', 'approval: { require: never }');

/** The audit rows of effects without approval, each with its body. */
async function effectRows({ redis, prefix }: Awaited<ReturnType<typeof startStory>>) {
  const rows: { event: string; body: unknown }[] = [];
  for await (const { event, body } of openRedisStore({ client: redis, prefix }).exportAudit())
    if (event.startsWith('effect-')) rows.push({ event, body: JSON.parse(body) });
  return rows;
}

/** A tool that needs no approval has taken effect, and its process is killed before the turn ends. */
async function dieAfterEffect(name: string, texts: readonly string[]) {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  onTestFinished(() => workshop.release('after'));
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call(name)] }, ...texts.map((text) => ({ text }))],
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, manifest);
  const thread = story.ask('make a part');
  await workshop.has(1, 'effects');
  await doomed.kill();
  await workshop.release('after');
  await story.startOwnBot();
  return { story, thread, workshop };
}

test(
  'a call without approval whose process was killed in the middle is unknown: a person is asked, and it runs again only if they say so',
  async () => {
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
  },
  WITH_A_PROCESS_MS,
);

test(
  'a call without approval that a person has run again takes effect with the same key',
  async () => {
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
  },
  WITH_A_PROCESS_MS,
);

test(
  'an idempotent call without approval whose process was killed is run again with the same key and takes effect once',
  async () => {
    const { thread, workshop } = await dieAfterEffect('stamp_part', ['Stamped.']);
    await thread.shows(/Stamped\./);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
    expect(await workshop.keys('tries')).toHaveProperty('size', 1);
    expect(await workshop.linesOf('tries')).toHaveLength(2);
  },
  WITH_A_PROCESS_MS,
);

test(
  'a tool that can look its call up is asked before any person',
  async () => {
    const { thread, workshop } = await dieAfterEffect('engrave_part', ['Engraved.']);
    await thread.shows(/Engraved\./);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  },
  WITH_A_PROCESS_MS,
);

test('a bot that stops lets a running effect end and records it, and the next one continues without a second run', async () => {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  onTestFinished(() => workshop.release('after'));
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const bot = await startBot(story.setup);
  const thread = story.ask('make a part');
  await workshop.has(1, 'effects');
  const stopped = bot.stop();
  await workshop.release('after');
  await stopped;
  await story.startOwnBot();
  await thread.shows(/Pressed\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
}, 60_000);

test('every effect without approval is a row of the audit log, with its tool, its arguments and its requester', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
    withoutBot: true,
  });
  await story.startOwnBot();
  await story.ask('make a part').shows(/Pressed\./);
  const rows = await effectRows(story);
  const { arguments: given } = workshop.call('press_part');
  const body = { tool: 'press_part', arguments: given, requesters: [CAST.requester] };
  expect(rows).toMatchObject([
    { event: 'effect-started', body },
    { event: 'effect-succeeded', body },
  ]);
});

test('an idempotent call without approval whose outcome is unknown is tried again with the same key before a person is asked', async () => {
  const server = await startRecordingServer((response) => {
    response.statusCode = server.requests.length === 1 ? 504 : 200;
    response.end('{}');
  });
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `${manifest.slice(0, manifest.indexOf('tools:'))}tools:
  book:
    description: Books.
    effect: idempotent
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { require: never }
`,
    replies: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'Booked.' }],
  });
  const thread = story.ask('book it');
  await thread.shows(/Booked\./);
  expect(story.repliesIn(thread)).toHaveLength(1);
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
});

test('a call whose output cannot be used has taken effect: it is recorded as succeeded, and the model is told the problem', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: manifest.replace('approval:', 'max_output: 3, approval:'),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
    withoutBot: true,
  });
  await story.startOwnBot();
  await story.ask('make a part').shows(/Pressed\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  expect(story.toldOfCalls()).toEqual([
    expect.stringMatching(/"status":"ran".*The tool ran, but its output/),
  ]);
  const events = (await effectRows(story)).map(({ event }) => event);
  expect(events).toEqual(['effect-started', 'effect-succeeded']);
});

test('an approved action whose output cannot be used is shown as done', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: workshopManifest().replace('approval:', 'max_output: 3, approval:'),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
  });
  const thread = story.ask('make a part');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Done: Press part/);
  await thread.shows(/Pressed\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/"status":"ran"/)]);
});
