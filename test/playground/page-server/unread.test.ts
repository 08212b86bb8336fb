import { expect, test } from 'vitest';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { postText } from '../slack/support.ts';
import { act, ClientForTest, pageForTest } from './support.ts';

const { general, withoutBot } = CHANNELS;

type Page = Awaited<ReturnType<typeof pageForTest>>;

/** Returns the unread counts of a channel from a new client of a person. */
async function unreadFor({ server }: Pick<Page, 'server'>, userId: string, channelId: string = general) {
  const client = await ClientForTest.open(server, userId);
  const channel = client.get('channel').find(({ id }) => id === channelId);
  return { unread: channel?.unread, mentions: channel?.mentions, lastRead: channel?.lastRead };
}

async function unreadInThread({ server }: Page, userId: string) {
  return (await ClientForTest.open(server, userId)).get('thread')[0]?.unread;
}

test('messages of others are unread until they are read; own messages never are', async () => {
  const page = await pageForTest();
  page.workspace.as(CAST.alice).send(general, 'one');
  const { ts } = page.workspace.as(CAST.alice).send(general, 'two');
  expect(await unreadFor(page, CAST.alice)).toMatchObject({ unread: 0 });
  expect(await unreadFor(page, CAST.bruno)).toEqual({ unread: 2, mentions: 0, lastRead: '' });
  await act(page.server, CAST.bruno, 'read', { channel: general, ts });
  expect(await unreadFor(page, CAST.bruno)).toEqual({ unread: 0, mentions: 0, lastRead: ts });
});

test('reading never goes backwards', async () => {
  const page = await pageForTest();
  const first = page.workspace.as(CAST.alice).send(general, 'one');
  const second = page.workspace.as(CAST.alice).send(general, 'two');
  await act(page.server, CAST.bruno, 'read', { channel: general, ts: second.ts });
  await act(page.server, CAST.bruno, 'read', { channel: general, ts: first.ts });
  expect(await unreadFor(page, CAST.bruno)).toMatchObject({ unread: 0, lastRead: second.ts });
});

test('the author of a message has read the conversation', async () => {
  const page = await pageForTest();
  page.workspace.as(CAST.alice).send(general, 'anybody?');
  await act(page.server, CAST.bruno, 'send', { channel: general, text: 'yes' });
  expect(await unreadFor(page, CAST.bruno)).toMatchObject({ unread: 0 });
});

test('nothing is unread for a non-member, and a hidden channel cannot be read', async () => {
  const page = await pageForTest();
  const { ts } = page.workspace.as(CAST.alice).send(withoutBot, 'hello <!channel>');
  expect(await unreadFor(page, CAST.bruno, withoutBot)).toMatchObject({ unread: 0, mentions: 0 });
  expect(await act(page.server, CAST.guest, 'read', { channel: withoutBot, ts })).toEqual({
    ok: false,
    error: "This conversation doesn't exist, or you can't see it.",
  });
});

test('a thread is unread for its participants', async () => {
  const page = await pageForTest();
  const { workspace, slack } = page;
  const { ts } = workspace.as(CAST.requester).send(general, 'refund it');
  workspace.as(CAST.admin).send(general, 'why?', { threadTs: ts });
  await postText(slack, { thread_ts: ts, text: `<@${CAST.alice}> please sign` });
  expect(await unreadInThread(page, CAST.requester)).toBe(2);
  expect(await unreadInThread(page, CAST.admin)).toBe(1);
  expect(await unreadInThread(page, CAST.alice)).toBe(2);
  expect(await unreadInThread(page, CAST.bruno)).toBe(0);
  expect(await unreadFor(page, CAST.alice)).toMatchObject({ unread: 1, mentions: 1 });
  expect(await unreadFor(page, CAST.bruno)).toMatchObject({ unread: 1, mentions: 0 });
  const last = workspace.messagesIn(general, ts).at(-1)?.ts ?? '';
  await act(page.server, CAST.alice, 'read', { channel: general, threadTs: ts, ts: last });
  expect(await unreadInThread(page, CAST.alice)).toBe(0);
  expect(await unreadFor(page, CAST.alice)).toMatchObject({ unread: 1, mentions: 0 });
});

test.each([
  ['by name', `<@${CAST.alice}>`],
  ['by name, with a label', `<@${CAST.alice}|alice>`],
  ['by a group of theirs', `<!subteam^${APPROVERS_GROUP}>`],
  ['with everybody who is there', '<!here>'],
  ['with everybody', '<!channel>'],
])('a message mentions a person %s', async (_how, mention) => {
  const page = await pageForTest();
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: `Look, ${mention}` } }];
  await postText(page.slack, { text: 'look', blocks });
  await postText(page.slack, { text: `and again, ${mention}` });
  expect(await unreadFor(page, CAST.alice)).toMatchObject({ unread: 2, mentions: 2 });
});

test('a message does not mention a person in plain text, nor a group they are not in', async () => {
  const page = await pageForTest();
  const text = { type: 'plain_text', text: `<@${CAST.requester}>` };
  await postText(page.slack, { text: 'look', blocks: [{ type: 'section', text }] });
  page.workspace.as(CAST.admin).send(general, `<!subteam^${APPROVERS_GROUP}> and <@${CAST.alice}>`);
  expect(await unreadFor(page, CAST.requester)).toMatchObject({ unread: 2, mentions: 0 });
});

test('all direct messages of the app count as mentions', async () => {
  const page = await pageForTest();
  const channel = page.workspace.directMessages(CAST.alice);
  const { ts } = await postText(page.slack, { channel, text: 'sign this' });
  await postText(page.slack, { channel, text: 'a reminder', thread_ts: ts });
  expect(await unreadFor(page, CAST.alice, channel)).toMatchObject({ unread: 1, mentions: 2 });
});

test('read positions survive a restart, and listeners are notified', async () => {
  const page = await pageForTest();
  const { ts } = page.workspace.as(CAST.alice).send(general, 'hello');
  let told = 0;
  page.server.onRead(() => {
    told += 1;
  });
  await act(page.server, CAST.bruno, 'read', { channel: general, ts });
  await act(page.server, CAST.bruno, 'read', { channel: general, ts });
  expect(told).toBe(1);
  const reads = JSON.parse(JSON.stringify(page.server.reads()));
  const next = await pageForTest({ page: { slack: page.slack, reads } });
  expect(await unreadFor(next, CAST.bruno)).toMatchObject({ unread: 0, lastRead: ts });
});
