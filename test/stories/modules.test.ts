import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { versionOf } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { watchManifest } from '../../src/tools/watch-manifest.ts';
import { newFolder } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop } from './workshop.ts';

const INDEX = join(import.meta.dirname, '../../src/index.ts');

/** A manifest with one module, which needs Alice's approval. */
const manifestWith = (module: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  ours: { module: ${module}, approval: default }
`;

const MANIFEST = manifestWith('./greet.ts');
const FIXTURES = manifestWith('./test/stories/fixtures/stoppable-tools.ts');

test('an approval that waits for the old code of a module is asked again when a file that it imports has changed', async () => {
  const folder = newFolder();
  const file = join(folder, 'manifest.yml');
  writeFileSync(file, MANIFEST);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const greetWith = (word: string) =>
    writeFileSync(join(folder, 'word.ts'), `export const word = '${word}';\n`);
  greetWith('Hello');
  writeFileSync(
    join(folder, 'greet.ts'),
    `import { defineTool } from ${JSON.stringify(INDEX)};
import { word } from ${JSON.stringify('./word.ts')};
export const greet = defineTool({ name: 'greet', description: 'Greets.' }, async () => word);
`,
  );
  const parsed = parseManifest(MANIFEST, { file, environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const story = await startStory({
    withoutBot: true,
    replies: [{ calls: [{ name: 'greet', arguments: {} }] }, { text: 'Greeted.' }],
  });
  const bot = await story.startOwnBot({ manifest: parsed.manifest, folder });
  const watch = await watchManifest({
    file,
    active: versionOf(parsed, undefined),
    readEnvironment: () => ({}),
    toolbox: bot.toolbox,
    secrets: new Secrets(),
    store: bot.context.store,
    logger: bot.context.logger,
    onNotice: () => {},
    modulePollMs: 20,
  });
  onTestFinished(() => watch.close());
  const thread = story.ask('greet');
  const card = await thread.shows(/Needs 1 approval/);
  const before = bot.toolbox.find('greet');
  greetWith('Goodbye');
  await expect.poll(() => bot.toolbox.find('greet') !== before).toBe(true);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/The tool, its settings or its policy changed, so this needs a new approval/);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Greeted\./);
  expect(JSON.stringify(story.model.requests.at(-1)?.messages)).toContain('Goodbye');
});

/** A bot with the tools of the fixtures and one approved call of one of them. */
async function approvedCall(name: string, args: object, answers = [{ text: 'I have read it.' }]) {
  const story = await startStory({
    manifest: FIXTURES,
    replies: [{ calls: [{ name, arguments: args }] }, ...answers],
    withoutBot: true,
    timing: { stopActionsMs: 50 },
  });
  const bot = await story.startOwnBot();
  const thread = story.ask('please');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  return { story, bot, thread };
}

test('an approved run that a person stops, and that says that it did nothing, ends as not run', async () => {
  const { has, call } = await openWorkshop();
  const { story, thread } = await approvedCall('send_once', call('send_once').arguments, []);
  await has(1, 'tries');
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/This is running and was told to stop; its card says how it ended: Send once/);
  const card = JSON.stringify(await thread.shows(/Failed: Send once/));
  expect(card).toContain('Not run: the task was stopped');
  await has(0, 'effects');
});

test('an idempotent run that says at the stop of its process that it did nothing is run by another one, with the same key', async () => {
  const { has, call, release, hold, keys } = await openWorkshop();
  await hold('before');
  const { story, bot, thread } = await approvedCall('send_again', call('send_again').arguments);
  await has(1, 'tries');
  await bot.stop();
  await has(0, 'effects');
  await release('before');
  await story.startOwnBot();
  await thread.shows(/I have read it\./);
  await has(1, 'effects');
  expect((await keys('tries')).size).toBe(1);
});

test('a run that must not be repeated, and says at the stop of its process that it did nothing, ends with the reason', async () => {
  const { has, call } = await openWorkshop();
  const { story, bot, thread } = await approvedCall('send_once', call('send_once').arguments);
  await has(1, 'tries');
  await bot.stop();
  await story.startOwnBot();
  await thread.shows(/Failed: Send once/);
  await thread.shows(/I have read it\./);
  expect(JSON.stringify(story.model.requests.at(-1)?.messages)).toContain(
    'Not run: Countersign was restarted',
  );
  await has(0, 'effects');
});

test('a run that ends without a word about a stop is not taken for one that did nothing', async () => {
  const { has, call } = await openWorkshop();
  const { story, thread } = await approvedCall('send_rudely', call('send_rudely').arguments, []);
  await has(1, 'tries');
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/Outcome unknown: Send rudely/);
});

test('an action whose result does not fit its schema is shown as run, with what is wrong, and not as a success', async () => {
  const { story, thread } = await approvedCall('open_oddly', {});
  await thread.shows(/Ran, with an unusable result: Open oddly/);
  await thread.shows(/I have read it\./);
  const shown = JSON.stringify(await thread.shows(/Ran, with an unusable result/));
  expect(shown).toContain('⚠️');
  expect(shown).not.toContain('✅ Open');
  expect(shown).toContain('does not fit its output schema at \\"ticket\\"');
  expect(JSON.stringify(story.model.requests.at(-1)?.messages)).toContain('does not fit its output schema');
});
