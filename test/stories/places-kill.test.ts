import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clickCard } from '../support/click-card.ts';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, MANIFEST, PLACES, startStory } from './support.ts';

const { alice, requester: remi } = CAST;
const SHORT_LEASES = {
  timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
  sweep: { everyMs: 100, overdueMs: 0 },
  withoutBot: true,
} as const;

test('an Undo that was clicked before its process was killed is asked by the next one, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'house-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'doors');
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}], notify: { direct_messages: false } } }
tools: { house: { module: ./test/stories/fixtures/undo-tools.ts } }
`;
  const story = await startStory({
    manifest,
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'front' } }] },
      { text: 'Locked it.' },
      { text: 'It is open again.' },
    ],
    ...SHORT_LEASES,
  });
  const doomed = await startDoomedBot(story, manifest);
  const thread = story.ask('lock the front door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Locked it\./);
  const action = await thread.shows(/Undo until/);
  await clickCard(story.workspace, remi, { channel: thread.channel, ts: action.ts }, 'undo');
  await doomed.kill();
  await story.startOwnBot();
  await thread.click(alice, /Approval needed: Unlock the front door/, 'approve');
  await thread.shows(/It is open again\./);
  await thread.shows(/^Undone: Lock the front door[\s\S]*View the request/);
  expect(await readFile(file, 'utf8')).toBe('locked front\nunlocked front with L-front\n');
});

test('a task by command whose process was killed is done by the next one, and its answer can be rated', async () => {
  const manifest = MANIFEST.replace('agent: {', 'agent: { feedback: true,');
  const story = await startStory({
    manifest,
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }] },
      { text: 'Refunded.' },
    ],
    ...SHORT_LEASES,
  });
  const doomed = await startDoomedBot(story, manifest);
  await story.workspace.as(remi).command('/countersign', 'ask refund A-1001', { channel: PLACES.general });
  const root = await story.workspace.until(
    () => story.workspace.messagesIn(PLACES.general).find(({ text }) => text.includes(' asks: ')),
    { what: 'the task in the channel' },
  );
  const thread = story.threadIn(PLACES.general, root.ts);
  await thread.shows(/Approval needed/);
  await doomed.kill();
  await story.startOwnBot();
  await thread.click(alice, /Approval needed/, 'approve');
  const answer = await thread.shows(/Refunded\./);
  const [, value = ''] = /"value":"(good [^"]+)"/.exec(JSON.stringify(answer.blocks)) ?? [];
  await story.workspace.as(remi).click({ channel: PLACES.general, ts: answer.ts }, 'feedback', { value });
  await story.noticeFor(remi, /Thank you/);
});

test.each([
  ['of a command', false],
  ['of a shortcut', true],
])(
  'a task %s whose process was killed after it was posted, and before it was received, is done once',
  async (_how, isAbout) => {
    const story = await startStory({ replies: [{ text: 'It is on its way.' }], ...SHORT_LEASES });
    const doomed = await startDoomedBot(story, MANIFEST);
    const { workspace } = story;
    const complaint = workspace.as(alice).send(PLACES.general, 'Order A-1001 is late.');
    workspace.fail('chat.postMessage', { kind: 'slow', milliseconds: 600_000 });
    if (isAbout) {
      await workspace.as(remi).shortcut({ channel: PLACES.general, ts: complaint.ts }, 'ask_about_message');
      const modal = await story.modalFor(remi);
      void workspace.as(remi).submit(modal.id, { task: 'where is it?' });
    } else
      void workspace.as(remi).command('/countersign', 'ask where is A-1001?', { channel: PLACES.general });
    const place = [PLACES.general, isAbout ? complaint.ts : undefined] as const;
    const asked = () => workspace.messagesIn(...place).filter(({ text }) => text.includes(' asks: '));
    const root = await workspace.until(() => asked()[0], { what: 'the task in the channel' });
    await doomed.kill();
    await story.startOwnBot();
    await story.threadIn(PLACES.general, isAbout ? complaint.ts : root.ts).shows(/It is on its way\./);
    await expect.poll(() => story.redis.keys(`{${story.prefix}}:outbox`)).toEqual([]);
    expect(asked()).toHaveLength(1);
  },
);

test('a reply that was half shown when its process was killed is marked, and the next process answers whole', async () => {
  const shown = () =>
    story.workspace.until(({ calls }) => calls.some(({ method }) => method === 'chat.startStream'), {
      what: 'chat.startStream',
    });
  const story = await startStory({
    replies: [
      {
        text: ['It began ', 'and never ', 'ended'],
        before: (chunk) => (chunk === 2 ? shown() : undefined),
        hang: 3,
      },
      { text: 'It began and ended.' },
    ],
    ...SHORT_LEASES,
  });
  const doomed = await startDoomedBot(story, MANIFEST);
  const thread = story.ask('tell me a story');
  const half = await thread.shows(/It began/);
  const watched = async () => {
    const rows = await Promise.all(
      (await story.redis.keys(`{${story.prefix}}:rows`)).map((key) => story.redis.hvals(key)),
    );
    return rows.flat().some((row) => row.includes('cut-stream'));
  };
  await expect.poll(watched).toBe(true);
  await doomed.kill();
  await story.startOwnBot();
  await thread.shows(/It began and ended\./);
  await story.workspace.until(() => half.stream?.state === 'completed', {
    what: 'the end of the first stream',
  });
  expect(half.text).toMatch(/^It began [\s\S]*\(This answer was interrupted\. I started again below\.\)$/);
  await story.deliveredAll();
  expect(story.repliesIn(thread)).toHaveLength(2);
});

test('a reply whose process was killed before Slack had answered the start of its stream is found and marked', async () => {
  const story = await startStory({
    replies: [{ text: ['It began ', 'and never ', 'ended'], hang: 2 }, { text: 'It began and ended.' }],
    ...SHORT_LEASES,
    timing: { leaseMs: 8_000, renewMs: 200, claimMs: 1_500 },
  });
  const doomed = await startDoomedBot(story, MANIFEST);
  story.workspace.fail('chat.startStream', { kind: 'slow', milliseconds: 600_000 });
  const thread = story.ask('tell me a story');
  const half = await thread.shows(/It began/);
  await doomed.kill();
  await story.startOwnBot();
  await story.workspace.until(() => half.stream?.state === 'completed', {
    what: 'the end of the first stream',
  });
  expect(half.text).toMatch(/\(This answer was interrupted\. I started again below\.\)$/);
  await thread.shows(/It began and ended\./);
  await expect.poll(() => story.redis.keys(`{${story.prefix}}:outbox`)).toEqual([]);
  expect(story.repliesIn(thread)).toHaveLength(2);
});
