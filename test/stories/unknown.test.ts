import { describe, expect, onTestFinished, test } from 'vitest';
import { APPROVERS_GROUP } from '../../playground/slack/default-cast.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

/** A worker that gives no sign of life is as good as dead: the record cannot tell them apart. */
const SILENT = { heartbeatTimeoutMs: 1_500, heartbeatMs: 3_600_000 };
const SWEEP = { everyMs: 100, overdueMs: 0 };

/** An action is approved, has taken effect, and its worker falls silent. */
async function fallSilent(name: string, replies: readonly { text: string }[], manifest = workshopManifest()) {
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call(name)] }, ...replies],
    timing: SILENT,
    sweep: SWEEP,
  });
  onTestFinished(() => workshop.release('after'));
  const thread = story.ask('make a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  return { story, thread, workshop };
}

test('an approved POST that a gateway answered with 504 has an unknown outcome, and is not sent a second time', async () => {
  const server = await startRecordingServer((response) => {
    response.statusCode = 504;
    response.end('gateway timeout');
  });
  onTestFinished(() => server.stop());
  const manifest = workshopManifest();
  const story = await startStory({
    manifest: `${manifest.slice(0, manifest.indexOf('tools:'))}tools:
  book:
    description: Books.
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { policy: default }
`,
    replies: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'Good to know.' }],
    sweep: SWEEP,
  });
  const thread = story.ask('book it');
  await thread.click(CAST.alice, /Approve/, 'approve');
  const card = await thread.shows(/Outcome unknown: Book/);
  // The cause is the answer of the server, and not a process that ended.
  expect(JSON.stringify(card.blocks)).toMatch(/may or may not have happened.*504/);
  expect(JSON.stringify(story.repliesIn(thread))).not.toContain('Countersign restarted');
  await thread.click(CAST.admin, /Outcome unknown: Book/, 'ran');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It is in the books.' });
  await thread.shows(/Good to know\./);
  expect(server.requests).toHaveLength(1);
});

describe('an action whose outcome is unknown', () => {
  test('that did not run, as somebody found out, leads the model there and runs no more', async () => {
    const { story, thread, workshop } = await fallSilent('press_part', [{ text: 'Shall I try anew?' }]);
    await thread.click(CAST.admin, /Outcome unknown: Press part/, 'did-not-run');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'Nothing there.' });
    await thread.shows(/Shall I try anew\?/);
    await thread.shows(/Did not run: Press part[\s\S]*Did not run · confirmed by/);
    expect(story.toldOfCalls().at(-1)).toMatch(/"did-not-run".*Nothing there/);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });

  test('runs once more when one of its approvers says so', async () => {
    const { story, thread, workshop } = await fallSilent('press_part', [{ text: 'Pressed.' }]);
    await thread.click(CAST.bruno, /Outcome unknown: Press part/, 'run-again');
    const modal = await story.modalFor(CAST.bruno);
    await story.workspace.as(CAST.bruno).submit(modal.id, { reason: 'Better twice than never.' });
    await thread.shows(/Pressed\./);
    const card = await thread.shows(/Done: Press part/);
    expect(JSON.stringify(card.blocks)).toContain(CAST.alice);
    expect(await workshop.linesOf('effects')).toHaveLength(2);
    expect(await workshop.keys('effects')).toHaveProperty('size', 1);
  });

  test('does not run again for a person who could not approve it, who may still say what happened', async () => {
    const { alice, bruno, admin } = CAST;
    const manifest = workshopManifest().replace(
      `approvers: [${alice}, ${bruno}]`,
      `approvers: { any: [${alice}, ${bruno}], not: [${admin}] }`,
    );
    const { story, thread, workshop } = await fallSilent('press_part', [{ text: 'Good.' }], manifest);
    await thread.click(admin, /Outcome unknown: Press part/, 'run-again');
    const modal = await story.modalFor(admin);
    expect(await story.workspace.as(admin).submit(modal.id, { reason: 'Again.' })).toMatchObject({
      errors: { verdict: expect.stringMatching(/Only its approvers can have this run again/) },
    });
    await story.workspace.as(admin).submit(modal.id, { verdict: 'ran', reason: 'Seen.' });
    await thread.shows(/Good\./);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });

  test('is not offered to run again on one click where two people approved it', async () => {
    const manifest = workshopManifest(', quorum: 2');
    const workshop = await openWorkshop();
    await workshop.hold('after');
    const story = await startStory({
      manifest,
      replies: [{ calls: [workshop.call('press_part')] }, { text: 'Good.' }],
      timing: SILENT,
      sweep: SWEEP,
    });
    onTestFinished(() => workshop.release('after'));
    const thread = story.ask('make a part');
    await thread.click(CAST.alice, /Approve/, 'approve');
    await thread.click(CAST.bruno, /1 of 2/, 'approve');
    await workshop.has(1, 'effects');
    const card = await thread.shows(/Outcome unknown: Press part/);
    const offered = [...JSON.stringify(card.blocks).matchAll(/"action_id":"(ran|did-not-run|run-again)"/g)];
    expect(offered.map(([, verdict]) => verdict)).toEqual(['ran', 'did-not-run']);
    await thread.click(CAST.admin, /Outcome unknown: Press part/, 'ran');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'Seen.' });
    await thread.shows(/Good\./);
  });

  test('is settled by the tool itself where it can look it up, and nobody is asked', async () => {
    const { story, thread, workshop } = await fallSilent('engrave_part', [{ text: 'It is engraved.' }]);
    await thread.shows(/It is engraved\./);
    await thread.shows(/Ran: Engrave part[\s\S]*Ran · confirmed by[\s\S]*the tool/);
    expect(story.toldOfCalls().at(-1)).toMatch(/"ran"/);
    expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.admin))).toEqual([]);
    expect(await workshop.linesOf('effects')).toHaveLength(1);
  });

  test('is put before each member of a group once, also if Slack could not tell at first who is in it', async () => {
    const manifest = workshopManifest().replace(
      `resolvers: [${CAST.admin}]`,
      `resolvers: [${APPROVERS_GROUP}]`,
    );
    const { story, thread } = await fallSilent('press_part', [{ text: 'Good.' }], manifest);
    story.workspace.fail('usergroups.users.list', { kind: 'status', status: 503 }, { calls: 2 });
    await story.directly(CAST.alice).shows(/Outcome unknown: Press part/);
    await story.directly(CAST.bruno).click(CAST.bruno, /Outcome unknown: Press part/, 'ran');
    const modal = await story.modalFor(CAST.bruno);
    await story.workspace.as(CAST.bruno).submit(modal.id, { reason: 'It lies on the bench.' });
    await thread.shows(/Good\./);
    const asked = story.repliesIn(thread).filter(({ text }) => text.includes('may or may not have happened'));
    expect(asked).toHaveLength(1);
  });

  test('is put before nobody who could not approve either: guests, people of other companies and deactivated ones', async () => {
    const { admin, guest, outsider, bruno } = CAST;
    const manifest = workshopManifest().replace(
      `resolvers: [${admin}]`,
      `resolvers: [${guest}, ${outsider}, ${bruno}, ${admin}]`,
    );
    const { story, thread } = await fallSilent('press_part', [{ text: 'Good.' }], manifest);
    const person = story.workspace.state.users.get(bruno);
    if (person !== undefined) person.deleted = true;
    await story.directly(admin).click(admin, /Outcome unknown: Press part/, 'ran');
    const isNotice = ({ text }: { readonly text: string }) => text.includes('may or may not have happened');
    const notice = await story.workspace.until(() => story.repliesIn(thread).find(isNotice), {
      what: 'a notice',
    });
    expect(JSON.stringify(notice)).toContain(admin);
    for (const who of [guest, outsider, bruno]) {
      expect(story.workspace.messagesIn(story.workspace.directMessages(who))).toEqual([]);
      expect(JSON.stringify(notice)).not.toContain(who);
    }
    const modal = await story.modalFor(admin);
    await story.workspace.as(admin).submit(modal.id, { reason: 'It lies on the bench.' });
    await thread.shows(/Good\./);
  });

  test('is put before people if the tool does not end its look-up in its time', async () => {
    const { story, thread } = await fallSilent('weld_part', [{ text: 'Good.' }]);
    await story.directly(CAST.admin).click(CAST.admin, /Outcome unknown: Weld part/, 'ran');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It holds.' });
    await thread.shows(/Good\./);
  });
});
