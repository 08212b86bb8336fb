import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { CAST, startStory } from './support.ts';

const { requester: remi, alice } = CAST;
const INDEX = new URL('../../src/index.ts', import.meta.url).href;

/** A folder with one tool, which asks for a room and books it. */
function roomFolder(rooms: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'rooms-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'book.ts'),
    `import { appendFileSync } from 'node:fs';
import { defineTool } from ${JSON.stringify(INDEX)};
export const book = defineTool({ name: 'book', description: 'Books a room.' }, async (_input, { interrupt, resumed }) => {
  if (resumed === undefined) return interrupt({ message: 'Which room?', choices: ${JSON.stringify(rooms)} });
  appendFileSync(${JSON.stringify(join(folder, 'booked'))}, String(resumed.choice) + '\\n');
  return { booked: resumed.choice };
});
`,
  );
  return folder;
}

const manifestWith = (folder: string, keys = '') => {
  const text = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}], notify: { direct_messages: false } } }
tools: { book: { module: ${join(folder, 'book.ts')}, approval: never${keys} } }
`;
  const parsed = parseManifest(text, { file: 'rooms.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.manifest;
};

const CALL = { calls: [{ name: 'book', arguments: {} }] };

test('an answer that no process has carried on yet is carried on by the next one, once', async () => {
  const folder = roomFolder(['Red', 'Blue']);
  const manifest = manifestWith(folder);
  const story = await startStory({ withoutBot: true, replies: [CALL, { text: 'Booked.' }] });
  const first = await story.startOwnBot({ manifest, folder });
  const thread = story.ask('book a room');
  const card = await thread.shows(/Which room\?/);
  // The answer is on record, and the process that took it is gone before the thread goes on.
  await first.stop();
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const [requestId = ''] = await store.waitingIn(`${thread.channel}:${thread.ts}`);
  const answered = await store.answer(requestId, { who: remi, eligible: true, evidence: {} }, 'Blue');
  expect(answered).toMatchObject({ outcome: 'answered' });
  expect(existsSync(join(folder, 'booked'))).toBe(false);
  await story.startOwnBot({ manifest, folder });
  await thread.shows(/Booked\./);
  expect(story.toldOfCalls()).toEqual(['{"booked":"Blue"}']);
  expect(readFileSync(join(folder, 'booked'), 'utf8')).toBe('Blue\n');
  const settled = await thread.shows(/Answered: Which room\?/);
  expect(settled.ts).toBe(card.ts);
});

test('an answer to a tool that has changed since it asked goes to nobody: the changed tool asks again', async () => {
  const folder = roomFolder(['Red', 'Blue']);
  const story = await startStory({ withoutBot: true, replies: [CALL, { text: 'Booked.' }] });
  const bot = await story.startOwnBot({ manifest: manifestWith(folder), folder });
  const thread = story.ask('book a room');
  const card = await thread.shows(/Which room\?/);
  await bot.toolbox.replace(manifestWith(folder, ', max_output: 50000'));
  await thread.click(remi, /Which room\?/, 'choose:1');
  const again = await story.workspace.until(
    () => story.repliesIn(thread).find(({ ts, text }) => ts !== card.ts && text === 'Which room?'),
    { what: 'the question once more' },
  );
  await story.workspace.as(remi).click(again, 'choose:0');
  await thread.shows(/Booked\./);
  expect(story.toldOfCalls()).toEqual(['{"booked":"Red"}']);
  expect(readFileSync(join(folder, 'booked'), 'utf8')).toBe('Red\n');
});

test.each([
  ['true', 'true'],
  ['a function of the input', '({ amount }) => amount > 100'],
  ['a function that throws', '() => { throw new Error("no"); }'],
  ['a function that takes its time', 'async () => false'],
])('needsApproval, as %s, asks under the default policy where the rules say never', async (_what, needs) => {
  const folder = mkdtempSync(join(tmpdir(), 'pay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'book.ts'),
    `import { defineTool } from ${JSON.stringify(INDEX)};
const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
export const book = defineTool(
  { name: 'book', description: 'Pays.', inputSchema, needsApproval: ${needs} },
  async ({ amount }) => ({ paid: amount }),
);
`,
  );
  const story = await startStory({
    withoutBot: true,
    replies: [{ calls: [{ name: 'book', arguments: { amount: 500 } }] }, { text: 'Paid.' }],
  });
  await story.startOwnBot({ manifest: manifestWith(folder), folder });
  const thread = story.ask('pay');
  await thread.click(alice, /Approval needed: Book/, 'approve');
  await thread.shows(/Paid\./);
  expect(story.toldOfCalls()).toEqual(['{"paid":500}']);
});

test.each([
  ['HTML, mentions and marks of direction', '<!channel> <@U0ALICE002> <b>pay</b> \u202Etxet', true],
  ['20,000 characters', `${'word '.repeat(4_000)}the end`, false],
])(
  'a message of %s is a dead quote, and is approved only where all of it was read',
  async (_what, message, isWhole) => {
    const folder = mkdtempSync(join(tmpdir(), 'ask-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(folder, 'book.ts'),
      `import { defineTool } from ${JSON.stringify(INDEX)};
export const book = defineTool({ name: 'book', description: 'Books.' }, async (_input, { interrupt, resumed }) =>
  resumed === undefined ? interrupt({ message: ${JSON.stringify(message)} }) : 'booked');
`,
    );
    const story = await startStory({ withoutBot: true, replies: [CALL] });
    await story.startOwnBot({ manifest: manifestWith(folder), folder });
    const thread = story.ask('book');
    const card = await thread.shows(/Book asks:/);
    const shown = JSON.stringify(card.blocks);
    expect(shown).not.toContain('"type":"broadcast"');
    expect(shown).not.toContain('\u202E');
    expect(card.text).not.toContain('<!channel>');
    expect(shown.includes('"action_id":"approve"')).toBe(isWhole);
    expect(shown.includes('Not all of it is shown') || shown.includes('"action_id":"details"')).toBe(
      !isWhole,
    );
  },
);
