import { expect, test } from 'vitest';
import { countCalls } from '../support/count-calls.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, heardByModel, PLACES, type Story, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const { alice, requester: remi } = CAST;

const write = ({ workspace }: Story, who: string, text: string, threadTs?: string) =>
  workspace.as(who).send(PLACES.general, text, threadTs === undefined ? {} : { threadTs });

const readsOf = ({ workspace }: Story) => countCalls(workspace, 'conversations.replies');

test('a mention that begins a thread, and a reply without a mention, cost no call', async () => {
  const story = await startStory({ replies: [{ text: 'One.' }, { text: 'Two.' }] });
  const thread = story.ask('hello');
  await thread.shows(/One\./);
  write(story, remi, 'and?', thread.ts);
  await thread.shows(/Two\./);
  expect(readsOf(story)).toBe(0);
});

test.each([
  { setting: 'agent.context: mention', agent: '{ context: mention }' },
  { setting: "the channel's own", agent: `{ channels: { ${PLACES.general}: { context: mention } } }` },
])('with $setting the bot reads its mention alone', async ({ agent }) => {
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: ${agent}
policies: { default: { approvers: [${alice}] } }
`;
  const story = await startStory({ replies: [{ text: 'Fine.' }], manifest });
  const { ts } = write(story, alice, 'a secret discussion');
  await story.ask('hello', { threadTs: ts }).shows(/Fine\./);
  expect(readsOf(story)).toBe(0);
  expect(heardByModel(story.model).join('\n')).not.toContain('secret');
});

test('where Slack refuses to show the thread, the bot says so once and goes on', async () => {
  const story = await startStory({ replies: [{ text: 'One.' }, { text: 'Two.' }] });
  story.workspace.fail('conversations.replies', { kind: 'refuse', error: 'missing_scope' }, { calls: 2 });
  const { ts } = write(story, alice, 'the shop is slow');
  const thread = story.ask('why?', { threadTs: ts });
  await thread.shows(/One\./);
  await thread.shows(/Slack doesn't let me read/);
  expect(heardByModel(story.model)[0]).toBe('[The earlier messages of this thread could not be read]');
  story.ask('why?', { threadTs: ts });
  await thread.shows(/Two\./);
  await story.deliveredAll();
  expect(story.repliesIn(thread).filter(({ text }) => /let me read/.test(text))).toHaveLength(1);
});

test('a short retry-after is waited for; before a long one has passed no call is sent', async () => {
  const story = await startStory({ replies: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] });
  const { ts } = write(story, alice, 'the shop is slow');
  story.workspace.rateLimit('conversations.replies', { calls: 1, retryAfterSeconds: 1 });
  const thread = story.ask('why?', { threadTs: ts });
  await thread.shows(/One\./);
  expect(heardByModel(story.model).join('\n')).toContain('the shop is slow');
  const [limited, read] = story.workspace.calls.filter(({ method }) => method === 'conversations.replies');
  expect((read?.at ?? 0) - (limited?.at ?? 0)).toBeGreaterThanOrEqual(990);

  story.workspace.rateLimit('conversations.replies', { calls: 1, retryAfterSeconds: 60 });
  story.ask('why?', { threadTs: ts });
  await thread.shows(/Two\./);
  story.ask('why?', { threadTs: ts });
  await thread.shows(/Three\./);
  await thread.shows(/Slack limits how much I can read/);
  expect(readsOf(story)).toBe(3);
});

test('a mention in a thread of 2,000 messages costs three calls and a bounded prompt: the first message, a gap, and the newest', async () => {
  const story = await startStory({ replies: [{ text: 'Long.' }], withoutBot: true });
  const { ts } = write(story, alice, 'How it began.');
  for (let number = 1; number < 2_000; number += 1) {
    const text = `Message ${number}: ${'all work and no play '.repeat(5)}`;
    story.workspace.state.post({
      ...{ channel: PLACES.general, user: alice, text, blocks: [], attachments: [], thread_ts: ts },
    });
  }
  await story.startOwnBot();
  await story.ask('summarize', { threadTs: ts }).shows(/Long\./);
  expect(readsOf(story)).toBe(3);
  const [first, gap, ...rest] = heardByModel(story.model);
  expect(first).toContain('How it began.');
  const [, omitted] = /^\[(\d+) messages of this thread were left out here\]$/.exec(gap ?? '') ?? [];
  expect(Number(omitted) + rest.length).toBe(2_000);
  expect(rest[0]).toContain(`Message ${Number(omitted) + 1}:`);
  expect(rest.at(-2)).toContain('Message 1999:');
  expect(Buffer.byteLength(JSON.stringify(story.model.requests[0]?.messages))).toBeLessThan(60_000);
});

test('a process that is killed after it has read a thread is followed by one that sees the same words, without a second read', async () => {
  const manifest = workshopManifest().replace(
    'approval: { policy: default }',
    'approval: { require: never }',
  );
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest,
    replies: [{ calls: [workshop.call('stamp_part')] }, { text: 'Stamped.' }],
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const doomed = await startDoomedBot(story, manifest);
  const { ts } = write(story, alice, 'part 7 has no stamp');
  const thread = story.ask('stamp it', { threadTs: ts });
  await workshop.has(1, 'effects');
  story.workspace.as(alice).edit({ channel: PLACES.general, ts }, 'part 8 has no stamp');
  await doomed.kill();
  await workshop.release('after');
  await story.startOwnBot();
  await thread.shows(/Stamped\./);
  const [before = [], after = []] = story.model.requests.map(({ messages }) =>
    messages.filter(({ role }) => role === 'user'),
  );
  expect(JSON.stringify(before)).toContain('part 7 has no stamp');
  // The edit itself may have arrived by then, and is told beside what was read.
  expect(after.slice(0, before.length)).toEqual(before);
  expect(readsOf(story)).toBe(1);
});
