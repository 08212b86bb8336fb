import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { versionOf } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { watchManifest } from '../../src/tools/manifest/reload.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { newFolder } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';

const INDEX = join(import.meta.dirname, '../../src/index.ts');

/** A manifest with one module, which needs Alice's approval. */
const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  greet: { module: ./greet.ts, approval: default }
`;

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
import { word } from './word.ts';
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
    environment: {},
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
