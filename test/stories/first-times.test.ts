import { expect, inject, test } from 'vitest';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { textIn } from '../bot/views/cards/payloads.ts';
import { run } from '../commands/support.ts';
import { startAccountStory } from './accounts/support.ts';
import { approveAnswer, ask, askingManifest, fillIn } from './asking-servers.ts';
import { openDesk, ticketManifest } from './planning.ts';
import { CAST, MANIFEST, type Story, startStory } from './support.ts';

const { admin, alice, requester: remi } = CAST;
const refund = (amount: number, orderId = 'A-1001') => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason: 'damaged' } }],
});
const manifest = MANIFEST.replace(
  'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
  'title: "Refund {{input.amount}}", target: "{{input.orderId}}", fields: { Order: "{{input.orderId}}" }, approval: [{ policy: default, when: "first.target || first.pair || input.amount > 10000" }, { require: never }]',
);

test('the card says in words what is a first time; after its success the next one runs, and after an erasure it is a first one again', async () => {
  const story = await startStory({
    manifest,
    replies: [refund(5), { text: 'One.' }, refund(6), { text: 'Two.' }, refund(7)],
  });
  const first = story.ask('refund 5 cents');
  const card = await first.shows(/Approval needed/);
  expect(textIn(card.blocks)).toMatch(
    /First refund for this order in 90 days · First time in 90 days that .* uses refund/,
  );
  expect(textIn(card.blocks)).toContain('it is the first call of this tool for this target or');
  await first.click(alice, /Approval needed/, 'approve');
  await first.shows(/One\./);
  await story.ask('refund 6 cents').shows(/Two\./);
  const said: string[] = [];
  const erase = () =>
    runCommandLine(['erase', remi, '--reason', 'asked'], {
      environment: { REDIS_URL: story.setup.settings.redis.urls[0] },
      write: async (text) => void said.push(text),
      writeError: async (text) => void said.push(text),
      prefix: story.prefix,
    });
  const counters = () => story.redis.keys(`{${story.prefix}}:limit:first refund_order*`);
  expect((await counters()).filter((key) => key.includes(remi))).toHaveLength(2);
  await story.deliveredAll();
  await erase();
  expect((await counters()).filter((key) => key.includes(remi))).toEqual([]);
  // What somebody has done to the order stays known; who did it does not.
  expect(await counters()).toHaveLength(1);
  const again = story.ask('refund 7 cents');
  await again.shows(/Approval needed[\s\S]*that [\s\S]*uses refund/);
});

const ASKED_FIRST = '{ when: first.tool, policy: default }, { require: never }';
const countersIn = ({ redis, prefix }: Pick<Story, 'redis' | 'prefix'>) =>
  redis.keys(`{${prefix}}:limit:first *`);

test('a call that waits for its server is not done, and counts once when it is', async () => {
  const { manifest: asking, notes } = askingManifest('current', { rule: ASKED_FIRST });
  const story = await startStory({
    manifest: asking,
    replies: [ask('plan_trip'), { text: 'Planned.' }],
  });
  const thread = story.ask('plan a trip');
  await thread.click(alice, /Approval needed/, 'approve');
  await fillIn(story, thread, /Input needed: Who travels/);
  expect(await countersIn(story)).toEqual([]);
  await fillIn(story, thread, /Input needed: Which seat/, { 'field-0': '1' });
  await approveAnswer(thread);
  await thread.shows(/Planned\./);
  expect(notes().filter((line) => line.startsWith('planned'))).toHaveLength(1);
  expect(await countersIn(story)).toHaveLength(1);
});

test('a first call in the account of its requester waits for the account and for approval; the next for neither', async () => {
  const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
  const story = await startAccountStory({
    replies: [whoami, { text: 'First.' }, whoami, { text: 'Second.' }],
    approval: `[${ASKED_FIRST}]`,
  });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/First\./);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/Second\./);
  expect(story.mcp.calls).toHaveLength(2);
});

/** Says that the call whose outcome is unknown ran, where no manifest is at hand. */
async function sayOnTheCommandLine({ prefix }: Story): Promise<void> {
  const environment = { REDIS_URL: inject('redisUrl') };
  const { out } = await run(['pending', '--json'], environment, prefix);
  const { id } = JSON.parse(out) as { id: string };
  const said = await run(['resolve', id, '--ran', '--reason', 'It is closed.'], environment, prefix);
  expect(said).toMatchObject({ code: 0 });
}

/** Ways to say that a call ran. */
const WORDS: readonly (readonly [string, (story: Story) => Promise<unknown>])[] = [
  [
    'a person',
    async (story) => {
      await story.directly(admin).click(admin, /Outcome unknown/, 'ran');
      const modal = await story.modalFor(admin);
      await story.workspace.as(admin).submit(modal.id, { reason: 'It is closed.' });
    },
  ],
  ['an operator', sayOnTheCommandLine],
];

test.each(WORDS)('a call that ran by the word of %s counts: the next one is no first one', async (_, say) => {
  const desk = await openDesk();
  const rule =
    '      - { match: close_ticket, when: first.tool, policy: default }\n      - { match: close_ticket, require: never }';
  const call = (ticket: string) => ({
    calls: [{ name: 'close_ticket', arguments: { ticket, customer: 'Acme' } }],
  });
  const story = await startStory({
    manifest: ticketManifest({ rules: rule }),
    replies: [call('lost-1'), { text: 'Looked at.' }, call('T-2'), { text: 'Closed at once.' }],
  });
  const thread = story.ask('close the first');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Outcome unknown: Close ticket lost-1/);
  expect(await countersIn(story)).toEqual([]);
  await say(story);
  await thread.shows(/Looked at\./);
  expect(await countersIn(story)).toHaveLength(1);
  await story.ask('close the second').shows(/Closed at once\./);
  expect(await desk.done()).toEqual(['closed lost-1', 'closed T-2']);
});

test('a call that needed no approval and ran by the word of an operator counts as well', async () => {
  const desk = await openDesk();
  const rule =
    '      - { match: close_ticket, when: \'first.tool && input.ticket != "lost-1"\', policy: default }\n      - { match: close_ticket, require: never }';
  const call = (ticket: string) => ({
    calls: [{ name: 'close_ticket', arguments: { ticket, customer: 'Acme' } }],
  });
  const story = await startStory({
    manifest: ticketManifest({ rules: rule }),
    replies: [call('lost-1'), { text: 'Looked at.' }, call('T-2'), { text: 'Closed at once.' }],
  });
  const thread = story.ask('close the first');
  await thread.shows(/Outcome unknown: Close ticket lost-1/);
  expect(await countersIn(story)).toEqual([]);
  await sayOnTheCommandLine(story);
  await thread.shows(/Looked at\./);
  await story.ask('close the second').shows(/Closed at once\./);
  expect(await desk.done()).toEqual(['closed lost-1', 'closed T-2']);
});
