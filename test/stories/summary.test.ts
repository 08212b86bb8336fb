import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { manifest, refund } from './summarizing.ts';
import { CAST, startStory } from './support.ts';

const { alice, bruno } = CAST;

test('after so many cards an approver gets one message that lists what waits, kept up to date, and decides from there', async () => {
  const story = await startStory({
    manifest: manifest('notify: { load: { summary: { after: 1, within: 10m } } }'),
    replies: [
      refund('A-1001'),
      refund('A-1002'),
      refund('A-1003'),
      { text: 'Refunded.' },
      { text: 'Not now.' },
    ],
  });
  const dm = story.workspace.directMessages(alice);
  const inDm = () => story.workspace.messagesIn(dm);
  story.ask('refund order A-1001');
  await story.directly(alice).shows(/Approval needed/);
  const second = story.ask('refund order A-1002');
  await story.directly(alice).shows(/1 request in this list waits for you.*Requested by /s);
  const third = story.ask('refund order A-1003');
  const digest = await story.directly(alice).shows(/2 requests in this list wait for you.*A-1002.*A-1003/s);
  expect(JSON.stringify(digest.blocks)).toContain(`?thread_ts=${second.ts}&cid=`);
  expect(inDm()).toHaveLength(2);

  // The card is in the thread, and the message leads to the same request.
  await third.shows(/Approval needed/);
  const [value = ''] = new RegExp(`[^"]*:${second.ts}~[^"]*`).exec(JSON.stringify(digest.blocks)) ?? [];
  await story.workspace.as(alice).click({ channel: dm, ts: digest.ts }, 'home-open', { value });
  const modal = await story.modalFor(alice, /A-1002/);
  await story.workspace.as(alice).click({ viewId: modal.id }, 'approve');
  await second.shows(/Refunded\./);
  const left = await story.directly(alice).shows(/1 request in this list waits for you/);
  expect(JSON.stringify(left.blocks)).not.toContain('A-1002');
  await third.click(alice, /Approval needed/, 'reject');
  const reason = await story.modalFor(alice, /You're about to reject/);
  await story.workspace.as(alice).submit(reason.id, { reason: 'Not now.' });
  const emptied = await story.directly(alice).shows(/Nothing left on this list/);
  expect(emptied.ts).toBe(digest.ts);
  expect(inDm()).toHaveLength(2);
});

test('high risk always has a card of its own', async () => {
  const story = await startStory({
    manifest: manifest('risk: high, notify: { load: { summary: { after: 1, within: 10m } } }'),
    replies: [refund('A-1001'), refund('A-1002')],
  });
  const cards = () => story.workspace.messagesIn(story.workspace.directMessages(alice));
  story.ask('refund order A-1001');
  await story.directly(alice).shows(/Approval needed/);
  story.ask('refund order A-1002');
  await story.workspace.until(() => cards().length === 2, { what: 'two cards' });
  expect(cards().every(({ text }) => text.startsWith('Approval needed'))).toBe(true);
});

test('a digest whose answer from Slack was lost is not posted twice, and what cannot be posted keeps nobody from deciding', async () => {
  const story = await startStory({
    manifest: manifest('notify: { load: { summary: { after: 1, within: 10m } } }').replace(
      `[${alice}]`,
      `[${alice}, ${bruno}]`,
    ),
    replies: [{ calls: [...refund('A-1001').calls, ...refund('A-1002').calls] }, { text: 'Done.' }],
    slack: { timings: {} },
  });
  const isFor = (who: string) => (given: object) => JSON.stringify(given).includes(`summary|${who}|1`);
  story.workspace.fail('chat.postMessage', { kind: 'lost-answer' }, { when: isFor(alice) });
  story.workspace.fail(
    'chat.postMessage',
    { kind: 'refuse', error: 'channel_not_found' },
    { when: isFor(bruno) },
  );
  const thread = story.ask('refund two orders');
  await thread.shows(/Approval needed.*A-1002/s);
  await story.directly(alice).shows(/1 request in this list waits for you/);
  const record = openRedisStore({ client: story.redis, prefix: story.prefix });
  const drawn = async (who: string) => (await record.readSummary(who)).place !== undefined;
  await expect.poll(async () => (await drawn(alice)) && (await drawn(bruno))).toBe(true);
  const digests = (who: string) =>
    story.workspace
      .messagesIn(story.workspace.directMessages(who))
      .filter(({ text }) => text.includes('in this list wait'));
  expect([digests(alice).length, digests(bruno).length]).toEqual([1, 0]);
  for (const order of ['A-1001', 'A-1002'])
    await thread.click(bruno, new RegExp(`Approval needed.*${order}`, 's'), 'approve');
  await thread.shows(/Done\./);
  await story.directly(alice).shows(/Nothing left on this list/);
});
