import { expect, onTestFinished, test } from 'vitest';
import { startBot } from '../../src/start-bot.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { MORTAL } from './doomed-bot.ts';
import { effectRows } from './effect-rows.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };

const manifest = workshopManifest().replace('approval: { policy: default }', 'approval: { require: never }');

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
});

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

test('an approved action whose output cannot be used is shown as what ran', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: workshopManifest().replace('approval:', 'max_output: 3, approval:'),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
  });
  const thread = story.ask('make a part');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Ran, with an unusable result: Press part/);
  await thread.shows(/Pressed\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/"status":"ran"/)]);
});

test('the card of a call whose outcome is unknown names nobody who could not confirm it', async () => {
  const server = await startRecordingServer((response) => {
    response.statusCode = 504;
    response.end('gateway timeout');
  });
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.guest}, ${CAST.bruno}], notify: { direct_messages: false } }
tools:
  book:
    description: Books.
    input: { type: object, properties: { kind: { type: string } } }
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: [{ require: always, policy: default, when: "input.kind == 'other'" }, { require: never }]
`,
    replies: [{ calls: [{ name: 'book', arguments: { kind: 'one' } }] }],
    withoutBot: true,
  });
  Object.assign(story.workspace.state.users.get(CAST.bruno) ?? {}, { deleted: true });
  await story.startOwnBot();
  const thread = story.ask('book it');
  const card = await thread.shows(/Outcome unknown: Book/);
  const text = JSON.stringify(card.blocks);
  expect(text).toContain(CAST.alice);
  expect(text).not.toContain(CAST.guest);
  expect(text).not.toContain(CAST.bruno);
});
