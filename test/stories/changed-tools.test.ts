import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeLock } from '../../src/tools/manifest/tool-lock.ts';
import { moodyServer, temporaryFolder } from '../tools/mcp/support.ts';
import { CAST, startStory } from './support.ts';

/** A manifest with the MCP server of the fixtures under these rules. */
function moodyManifest(rules: string) {
  const moody = moodyServer();
  const { command, args } = moody.config;
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${CAST.admin}] }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  moody:
    mcp: { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} }
    approval: [ ${rules} ]
`;
  const called = (name: string) => moody.notes().filter((line) => line === `called ${name}`).length;
  return { manifest, called, refine: moody.refine };
}

const call = (name: string, args = {}) => ({ calls: [{ name, arguments: args }] });
const QUIETLY = { quietly: true };

test('a tool that its server changed without announcing it does not run on the old approval, and is asked anew', async () => {
  const { manifest, called } = moodyManifest('{ match: greet, policy: default }, { require: never }');
  const story = await startStory({
    manifest,
    replies: [
      call('greet', { name: 'Tomo' }),
      call('refine', QUIETLY),
      { text: 'Refined.' },
      { text: 'Greeted.' },
    ],
  });
  const thread = story.ask('greet Tomo');
  const card = await thread.shows(/Needs 1 approval/);
  await story.ask('refine yourself').shows(/Refined\./);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/The tool, its settings or its policy changed, so this needs a new approval/);
  expect(called('greet')).toBe(0);
  await thread.shows(/Needs 1 approval[\s\S]*Greets loudly|Greets loudly[\s\S]*Needs 1 approval/);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Greeted\./);
  expect(called('greet')).toBe(1);
});

test('a tool that its server changed while the bot was down does not run on the old approval, also without a lock', async () => {
  const { manifest, called, refine } = moodyManifest('{ policy: default }');
  const story = await startStory({
    manifest,
    withoutBot: true,
    replies: [call('greet', { name: 'Tomo' }), { text: 'Greeted.' }],
  });
  const first = await story.startOwnBot();
  const thread = story.ask('greet Tomo');
  const card = await thread.shows(/Needs 1 approval/);
  await story.deliveredAll();
  await first.stop();
  refine();
  await story.startOwnBot();
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/The tool, its settings or its policy changed, so this needs a new approval/);
  expect(called('greet')).toBe(0);
  await thread.shows(/Needs 1 approval[\s\S]*Greets loudly|Greets loudly[\s\S]*Needs 1 approval/);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Greeted\./);
  expect(called('greet')).toBe(1);
});

test('a call that needed no approval needs it once its server has changed the tool, announced or not', async () => {
  const { manifest, called } = moodyManifest('{ require: never }');
  const story = await startStory({
    manifest,
    replies: [
      call('greet'),
      { text: 'First.' },
      call('refine', QUIETLY),
      { text: 'Refined.' },
      call('greet', { name: 'Tomo' }),
      { text: 'Second.' },
    ],
  });
  await story.ask('greet').shows(/First\./);
  expect(called('greet')).toBe(1);
  await story.ask('refine yourself').shows(/Refined\./);
  const thread = story.ask('greet again');
  await thread.shows(/Needs 1 approval/);
  expect(called('greet')).toBe(1);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Second\./);
  expect(called('greet')).toBe(2);
});

test('a tool that its server changed while the bot was down needs approval, whatever its rule says, and the admins are told once', async () => {
  const { manifest, called, refine } = moodyManifest('{ require: never }');
  const story = await startStory({
    manifest,
    withoutBot: true,
    replies: [
      call('greet'),
      { text: 'First.' },
      call('greet', { name: 'Tomo' }),
      { text: 'Second.' },
      call('repeat', { text: 'on' }),
      { text: 'Third.' },
    ],
  });
  const first = await story.startOwnBot();
  await story.ask('greet').shows(/First\./);
  await story.deliveredAll();
  await first.stop();
  refine();
  const second = await story.startOwnBot();
  const thread = story.ask('greet again');
  await thread.shows(/Needs 1 approval/);
  expect(called('greet')).toBe(1);
  await story.directly(CAST.admin).shows(/greet: its definition is new or has changed/);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Second\./);
  // Another restart does not accept it either; what has not changed runs as before.
  await story.deliveredAll();
  await second.stop();
  const { toolbox } = await story.startOwnBot();
  const place = { requesters: [CAST.requester], contextAuthors: [], channel: thread.channel };
  expect(toolbox.find('greet')?.judge({}, place)).toMatchObject({ outcome: 'ask', policy: 'default' });
  await story.ask('repeat').shows(/Third\./);
  await story.deliveredAll();
  expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.admin))).toHaveLength(1);
});

test('a tool that appeared since the start needs approval, whatever the rule for its name says', async () => {
  const { manifest, called } = moodyManifest(
    '{ match: "read_*", require: never }, { match: learn, require: never }',
  );
  const story = await startStory({
    manifest,
    withoutBot: true,
    replies: [
      call('learn', { name: 'read_and_wipe' }),
      { text: 'Learnt.' },
      call('read_and_wipe'),
      { text: 'Read.' },
    ],
  });
  const { toolbox } = await story.startOwnBot();
  await story.ask('learn to read').shows(/Learnt\./);
  // The server announces it, and the bot lists its tools again.
  await expect.poll(() => toolbox.find('read_and_wipe')).toBeDefined();
  const thread = story.ask('read');
  await thread.shows(/Needs 1 approval/);
  expect(called('read_and_wipe')).toBe(0);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Read\./);
});

test('where definitions are locked, a new tool is offered to nobody, and the admins are told once', async () => {
  const { manifest, called } = moodyManifest('{ require: never }');
  const folder = temporaryFolder();
  const story = await startStory({
    manifest,
    folder,
    withoutBot: true,
    replies: [call('learn', { name: 'read_and_wipe' }), { text: 'Learnt.' }, { text: 'I cannot.' }],
  });
  const first = await story.startOwnBot();
  await writeLock(folder, first.toolbox.definitions());
  await first.toolbox.replace(first.toolbox.manifest);
  await story.ask('learn to read').shows(/Learnt\./);
  await story.directly(CAST.admin).shows(/read_and_wipe: its definition is not locked/);
  await story.ask('read').shows(/I cannot\./);
  const offered = story.model.requests.at(-1)?.tools?.map((tool) => JSON.stringify(tool)) ?? [];
  expect(offered.join()).toContain('greet');
  expect(offered.join()).not.toContain('read_and_wipe');
  expect(called('read_and_wipe')).toBe(0);
  await first.toolbox.replace(first.toolbox.manifest);
  const told = story.workspace.messagesIn(story.workspace.directMessages(CAST.admin));
  expect(told).toHaveLength(1);
  expect(readFileSync(`${folder}/manifest.lock.json`, 'utf8')).not.toContain('read_and_wipe');
});
