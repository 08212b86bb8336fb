import { expect, test } from 'vitest';
import { startDoomedBot } from './doomed-bot.ts';
import { manifest, refund } from './summarizing.ts';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;
const timing = { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 };
const sweep = { everyMs: 100, overdueMs: 0 };

test('what came after the message is told once its window is over, by a new message in place of it', async () => {
  const story = await startStory({
    manifest: manifest('notify: { load: { summary: { after: 1, within: 10s } } }'),
    replies: [{ calls: [...refund('A-1001').calls, ...refund('A-1002').calls] }, refund('A-1003')],
  });
  story.ask('refund two orders');
  const first = await story.directly(alice).shows(/1 request in this list waits for you/);
  story.ask('refund the third order');
  await story.directly(alice).shows(/This list has moved to a newer message below/);
  const next = await story.directly(alice).shows(/2 requests in this list wait for you.*A-1003/s);
  expect(Number(next.ts)).toBeGreaterThan(Number(first.ts));
  await story.deliveredAll();
  expect(story.workspace.messagesIn(story.workspace.directMessages(alice))).toHaveLength(3);
});

test('a digest that a killed process had not posted is posted once by another, and kept up to date', async () => {
  const text = manifest('notify: { load: { summary: { after: 1, within: 10m } } }');
  const story = await startStory({
    manifest: text,
    replies: [refund('A-1001'), refund('A-1002'), refund('A-1003'), { text: 'Refunded.' }],
    ...{ timing, sweep, slack: { timings: {} }, withoutBot: true },
  });
  const { workspace } = story;
  const doomed = await startDoomedBot(story, text);
  story.ask('refund order A-1001');
  await story.directly(alice).shows(/Approval needed/);
  // The message is there, and the process dies before it knows.
  workspace.fail(
    'chat.postMessage',
    { kind: 'slow', milliseconds: 600_000 },
    { when: (given) => JSON.stringify(given).includes(`summary|${alice}`) },
  );
  const second = story.ask('refund order A-1002');
  await story.directly(alice).shows(/1 request in this list waits for you/);
  await doomed.kill();
  await story.startOwnBot();
  story.ask('refund order A-1003');
  const digest = await story.directly(alice).shows(/2 requests in this list wait for you/);
  await second.click(alice, /Approval needed/, 'approve');
  await second.shows(/Refunded\./);
  const left = await story.directly(alice).shows(/1 request in this list waits for you.*A-1003/s);
  expect(left.ts).toBe(digest.ts);
  expect(workspace.messagesIn(workspace.directMessages(alice))).toHaveLength(2);
});

test('several requests that quiet hours held back come as one message when they end, by another process after the first was killed', async () => {
  // They end with a minute that begins soon, and not too soon for the first process to hold the messages back.
  const end = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
  const clock = (moment: number) => new Date(moment).toISOString().slice(11, 16);
  const hours = `{ from: "${clock(end - 7_200_000)}", to: "${clock(end)}", time_zone: UTC }`;
  const text = manifest(`notify: { quiet_hours: ${hours} }`);
  const story = await startStory({
    manifest: text,
    replies: [refund('A-1001'), refund('A-1002'), refund('A-1003')],
    ...{ timing, sweep, slack: { timings: {} }, withoutBot: true },
  });
  const dm = () => story.workspace.messagesIn(story.workspace.directMessages(alice));
  const doomed = await startDoomedBot(story, text);
  for (const order of ['A-1001', 'A-1002', 'A-1003']) {
    const thread = story.ask(`refund order ${order}`);
    await thread.shows(/Approval needed/);
  }
  const held = async () => {
    const keys = await story.redis.keys(`{${story.prefix}}:outbox`);
    const times = await Promise.all(keys.map((key) => story.redis.zrange(key, '0', '-1', 'WITHSCORES')));
    return times.flat().filter((_, at) => at % 2 === 1 && Number(times.flat()[at]) > end - 1_000).length;
  };
  await expect.poll(held).toBe(3);
  await doomed.kill();
  expect(dm()).toEqual([]);
  await story.startOwnBot();
  const digest = await story.workspace.until(
    () => dm().find(({ text }) => text.startsWith('3 requests in this list wait for you')),
    { what: 'the digest', timeoutMs: 300_000 },
  );
  expect(Date.now()).toBeGreaterThanOrEqual(end);
  await story.deliveredAll();
  expect(dm().map(({ ts }) => ts)).toEqual([digest.ts]);
});
