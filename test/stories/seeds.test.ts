import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CAST, type Story, type StoryOptions, startStory } from './support.ts';

const folder = fileURLToPath(new URL('../../examples/seeds', import.meta.url));
const manifest = readFileSync(`${folder}/manifest.yml`, 'utf8').replaceAll(
  'approvers: [U0ALICE002, U0BRUNO003]',
  `approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: false }`,
);
const { requester: remi, alice } = CAST;

/** Starts the examples with a model that makes one call and then says what came of it. */
function startSeeds(name: string, input: object, options: StoryOptions = {}): Promise<Story> {
  return startStory({
    ...options,
    manifest,
    folder,
    replies: [{ calls: [{ name, arguments: input }] }, { text: 'All done.' }],
  });
}

/** The results that the model read. */
const told = (story: Story) => story.toldOfCalls().map((text) => tryJson(text));

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

test('askQuestion: the choices of its input are buttons for the requester, and the click is its output', async () => {
  const story = await startSeeds('askQuestion', { choices: ['Pizza', 'Burgers'], allowOther: true });
  const thread = story.ask('help me plan a backyard BBQ');
  const card = await thread.shows(/Pizza[\s\S]*Burgers/);
  expect(JSON.stringify(card.blocks)).not.toMatch(/"approve"|"reject"/);
  await thread.click(alice, /Pizza/, 'choose:1');
  await story.noticeFor(alice, /Only the people this was sent to/);
  await thread.click(remi, /Pizza/, 'choose:1');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual(['Burgers']);
});

test('transferMoney: a small amount runs at once', async () => {
  const story = await startSeeds('transferMoney', { toAccountId: 'ABC123', amount: 500 });
  const thread = story.ask('Transfer $5 to account ABC123');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ status: 'DONE', message: 'Sent 500 cents to ABC123.' }]);
});

test('transferMoney: a large amount asks its own question, and a yes restarts it with APPROVED', async () => {
  const story = await startSeeds('transferMoney', { toAccountId: 'ABC123', amount: 100_000 });
  const thread = story.ask('Transfer $1000 to account ABC123');
  const card = await thread.shows(/Please confirm sending an amount > \$100\./);
  expect(JSON.stringify(card.blocks)).toMatch(/ABC123/);
  await thread.click(remi, /Please confirm/, 'approve');
  await story.noticeFor(remi, /can approve this/);
  await thread.click(alice, /Please confirm/, 'approve');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ status: 'DONE', message: 'Sent 100000 cents to ABC123.' }]);
});

test('transferMoney: a no ends the call as denied, with the words of the person, and nothing runs', async () => {
  const story = await startSeeds('transferMoney', { toAccountId: 'ABC123', amount: 100_000 });
  const thread = story.ask('Transfer $1000 to account ABC123');
  await thread.click(alice, /Please confirm/, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason: 'Not without an invoice.' });
  await thread.shows(/All done\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/denied[\s\S]*Not without an invoice\./)]);
});

test('ask_question of the Python page: a function that pauses without a word asks what its input says', async () => {
  const story = await startSeeds('ask_question', { choices: ['Yes', 'Maybe'], allow_other: true });
  const thread = story.ask('Ask me a movie trivia question.');
  await thread.click(remi, /Yes[\s\S]*Maybe/, 'answer');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, { 'own-words': 'Casablanca' });
  await thread.shows(/All done\./);
  expect(told(story)).toEqual(['Casablanca']);
});

test.each([
  { button: 'choose:0', output: 'Yes, confirmed.' },
  { button: 'choose:1', output: 'No, denied.' },
])(
  'confirmWeather: an output that is one of two words is two buttons: $output',
  async ({ button, output }) => {
    const story = await startSeeds('confirmWeather', { city: 'New York' });
    const thread = story.ask('What is the weather in New York?');
    await thread.click(remi, /New York[\s\S]*Question for/, button);
    await thread.shows(/All done\./);
    expect(told(story)).toEqual([output]);
  },
);

test('getWeatherInformation: a tool that needs approval waits for the default policy, although its rule says never', async () => {
  const story = await startSeeds('getWeatherInformation', { city: 'Oslo' });
  const thread = story.ask('What is the weather in Oslo?');
  await thread.click(alice, /Get weather information[\s\S]*Oslo/, 'approve');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual(['The weather in Oslo is sunny.']);
});

test('getLocalTime: a tool with a function and without a pause runs at once', async () => {
  const story = await startSeeds('getLocalTime', { location: 'Oslo' });
  const thread = story.ask('What time is it in Oslo?');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual(['10am']);
});

test('book_room: asks for a room, then for a yes to its price, and goes on with both answers', async () => {
  const story = await startSeeds('book_room', { people: 6 });
  const thread = story.ask('Book a room for six.');
  await thread.click(remi, /Which room for 6 people\?/, 'choose:1');
  await thread.click(alice, /The Blue room costs \$40\. Book it\?/, 'approve');
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ booked: 'Blue' }]);
});

test('order_badge: a form asks for what is missing, and its values restart the tool', async () => {
  const story = await startSeeds('order_badge', { visitor: 'Ada' });
  const thread = story.ask('Order a badge for Ada.');
  await thread.click(remi, /Which badge does Ada need\?/, 'fill-in');
  const modal = await story.modalFor(remi);
  await story.workspace
    .as(remi)
    .submit(modal.id, { 'field-0': 'Analytical Engines', 'field-1': '2026-12-01' });
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ ordered: 'Ada of Analytical Engines, on 2026-12-01' }]);
});

test('run_build: waits for a report of another system, and its result restarts the tool', async () => {
  const story = await startSeeds('run_build', { service: 'checkout' }, { withoutBot: true });
  const bot = await story.startOwnBot();
  const thread = story.ask('Build checkout.');
  const card = await thread.shows(/Waiting for an external system[\s\S]*The build of checkout/);
  expect(JSON.stringify(card.blocks)).toContain('https://ci.example.com/builds/7');
  await thread.click(remi, /The build of checkout/, 'show-address');
  const notice = await story.noticeFor(remi, /report back/);
  const [path = ''] = /\/callback\/[\w.-]+/.exec(notice.text) ?? [];
  const report = (body: object) =>
    fetch(`http://127.0.0.1:${bot.port}${path}`, { method: 'POST', body: JSON.stringify(body) });
  expect((await report({ build: 7 })).status).toBe(400);
  expect((await report({ build: 'green', status: 'APPROVED' })).status).toBe(200);
  await thread.shows(/All done\./);
  expect(told(story)).toEqual([{ build: 'green' }]);
});
