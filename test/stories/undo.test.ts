import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, startStory } from './support.ts';

const { alice, bruno, requester: remi, admin } = CAST;

const manifest = (undo = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${alice}], notify: { direct_messages: false } }
  doors: { approvers: [${bruno}, ${remi}], notify: { direct_messages: false } }
tools:
  house:
    module: ./test/stories/fixtures/undo-tools.ts
    approval:
      - { match: unlock_door, policy: doors }
      - { match: "*", policy: default }
    cards:
      - match: close_window
        title: "Close the {{input.door}} window"
        ${undo}
`;
const BY_MANIFEST =
  'undo: { tool: unlock_door, within: 10m, input: { file: "{{input.file}}", door: "the {{input.door}}", lock: "{{output.lock}}" } }';

async function openHouse() {
  const folder = await mkdtemp(join(tmpdir(), 'house-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'doors');
  return { file, lines: async () => (await readFile(file, 'utf8').catch(() => '')).trim().split('\n') };
}

test('Undo asks for the reverse call under its own policy, once, and runs only what its own approvers approve', async () => {
  const { file, lines } = await openHouse();
  const story = await startStory({
    manifest: manifest(),
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'front' } }] },
      { text: 'Locked it.' },
      { text: 'It is open again.' },
    ],
  });
  const thread = story.ask('lock the front door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Locked it\./);
  await thread.shows(/Locked the front door[\s\S]*Undo until/);
  await thread.click(admin, /Undo until/, 'undo');
  await story.noticeFor(admin, /Only the requesters and approvers of this action/);
  await Promise.all([thread.click(remi, /Undo until/, 'undo'), thread.click(remi, /Undo until/, 'undo')]);
  await story.noticeFor(remi, /already been requested/);
  const action = await thread.shows(/Locked the front door[\s\S]*Undo requested by/);
  expect(JSON.stringify(action.blocks)).not.toMatch(/"undo"|Undo until/);
  const card = await thread.shows(/Approval needed: Unlock the front door with L-front/);
  expect(JSON.stringify(card.blocks)).toMatch(/Undoes: Locked the front door/);
  expect(await lines()).toEqual(['locked front']);
  // The person who clicked is the requester of the new request, so they may not approve it, and the approver of the first may not either.
  await thread.click(remi, /Approval needed: Unlock/, 'approve');
  await story.noticeFor(remi, /You took part in requesting this/);
  await thread.click(alice, /Approval needed: Unlock/, 'approve');
  await story.noticeFor(alice, /can approve this/);
  await thread.click(bruno, /Approval needed: Unlock/, 'approve');
  await thread.shows(/It is open again\./);
  expect(await lines()).toEqual(['locked front', 'unlocked front with L-front']);
  // The card of the action says so, and leads to the card of the request that undid it.
  await thread.shows(/^Undone: Lock the front door[\s\S]*Undone [\s\S]*requested by/);
  // It is not headed by what is no longer true.
  expect(JSON.stringify(action.blocks)).toContain('"text":"Lock the front door","style":{"strike":true}');
  expect(JSON.stringify(action.blocks)).toContain(`/p${card.ts.replace('.', '')}?thread_ts=${thread.ts}`);
  const cards = story.repliesIn(thread).filter(({ text }) => /Unlocked the front door/.test(text));
  expect(cards).toHaveLength(1);
  const rows: string[] = [];
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  for await (const { event, body } of store.exportAudit())
    if (event === 'undo-asked' || (event === 'asked' && body.includes('"undoes"'))) rows.push(event);
  expect(rows.sort()).toEqual(['asked', 'undo-asked']);
});

test('the manifest names a reverse with values of input and output, and an approver of the action may ask for it', async () => {
  const { file, lines } = await openHouse();
  const story = await startStory({
    manifest: manifest(BY_MANIFEST),
    replies: [
      { calls: [{ name: 'close_window', arguments: { file, door: 'north' } }] },
      { text: 'Closed it.' },
      { text: 'Undone.' },
    ],
  });
  const thread = story.ask('close the north window');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Closed it\./);
  await thread.click(alice, /Undo until/, 'undo');
  await thread.shows(/Approval needed: Unlock the "the north" door with W-north/);
  // Remi did not ask for the undo.
  await thread.click(remi, /Approval needed: Unlock/, 'approve');
  await thread.shows(/Undone\./);
  expect(await lines()).toEqual(['closed north', 'unlocked the north with W-north']);
});

test('an undo sets the value that the preview found before, as the value that it was', async () => {
  const { file, lines } = await openHouse();
  await writeFile(file, '19.5\n');
  const back = 'undo: { tool: set_heating, input: { file: "{{input.file}}", level: "{{preview.before}}" } }';
  const story = await startStory({
    manifest: `${manifest()}      - match: set_heating
        title: "Set the heating to {{input.level}}"
        preview: { tool: read_heating, input: { file: "{{input.file}}" }, before: "{{output.level}}", after: "{{input.level}}" }
        ${back}
`.replace(
      '- { match: unlock_door',
      '- { match: read_heating, require: never }\n      - { match: unlock_door',
    ),
    replies: [
      { calls: [{ name: 'set_heating', arguments: { file, level: 25 } }] },
      { text: 'Set it.' },
      { text: 'Set it back.' },
    ],
  });
  const thread = story.ask('more heat');
  await thread.click(alice, /Approval needed[\s\S]*19\.5/, 'approve');
  await thread.shows(/Set it\./);
  // Somebody changes it meanwhile; the undo is to the value that was there when it was approved.
  await appendFile(file, '30\n');
  await thread.click(remi, /Undo until/, 'undo');
  await thread.click(alice, /Approval needed: Set the heating to 19\.5/, 'approve');
  await thread.shows(/Set it back\./);
  expect(await lines()).toEqual(['19.5', '25', '30', '19.5']);
});

test('what cannot be undone, and what is undone too late, is said privately, and nothing is asked', async () => {
  const { file } = await openHouse();
  const story = await startStory({
    manifest: manifest(BY_MANIFEST.replace('10m', '1s')),
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'back' } }] },
      { text: 'Locked it.' },
      { calls: [{ name: 'close_window', arguments: { file, door: 'north' } }] },
      { text: 'Closed it.' },
    ],
  });
  const thread = story.ask('lock the back door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Locked it\./);
  await thread.click(remi, /Undo until/, 'undo');
  await story.noticeFor(remi, /can't work out how to undo/);
  const other = story.ask('close the window');
  await other.click(alice, /Approval needed/, 'approve');
  await other.shows(/Closed it\./);
  const { ts } = await other.shows(/"text":"Undo"/);
  // The card loses its button when the time is over; a click that was on its way is answered.
  const card = await story.workspace.until(
    () =>
      story.workspace
        .messagesIn(other.channel, other.ts)
        .find(
          (message) => message.ts === ts && !/"text":"Undo"|Undo until/.test(JSON.stringify(message.blocks)),
        ),
    { what: 'the end of the offer' },
  );
  expect(card.text).toBe('Done: Close the north window');
  await story.deliveredAll();
  expect(story.model.requests).toHaveLength(4);
});

test('an undo that people reject, and one that runs without approval, end on the card of the action', async () => {
  const { file, lines } = await openHouse();
  const story = await startStory({
    manifest: manifest().replace(
      '{ match: unlock_door, policy: doors }',
      '{ match: unlock_door, policy: doors, when: \'input.door == "front"\' }\n      - { match: unlock_door, require: never }',
    ),
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'front' } }] },
      { text: 'Locked it.' },
      { text: 'It stays locked.' },
      { calls: [{ name: 'lock_door', arguments: { file, door: 'side' } }] },
      { text: 'Locked that too.' },
      { text: 'Opened that.' },
    ],
  });
  const thread = story.ask('lock the front door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.click(remi, /Undo until/, 'undo');
  await thread.click(bruno, /Approval needed: Unlock/, 'reject');
  const dialog = await story.modalFor(bruno);
  await story.workspace.as(bruno).submit(dialog.id, { reason: 'Keep it locked.' });
  await thread.shows(/It stays locked\./);
  await thread.shows(/^Done: Locked the front door[\s\S]*Undo did not run/);
  // The card says who rejected it; nothing repeats that below.
  await story.deliveredAll();
  expect(story.repliesIn(thread).filter(({ text }) => /did not run\./.test(text))).toEqual([]);
  const other = story.ask('lock the side door');
  await other.click(alice, /Approval needed/, 'approve');
  await other.click(remi, /Undo until/, 'undo');
  await other.shows(/Opened that\./);
  await other.shows(/^Undone: Lock the side door/);
  expect(await lines()).toEqual(['locked front', 'locked side', 'unlocked side with L-side']);
});
