import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { call, modal, postText, section } from '../slack/support.ts';
import { act, ClientForTest, pageForTest } from './support.ts';

const { general, releases } = CHANNELS;

describe('the entities of a client', () => {
  test.each([
    ['a member', CAST.alice, ['#general', '#releases', '#partners', '#random', '#old-news']],
    ['a member who is not everywhere', CAST.admin, ['#general', '#partners', '#random', '#old-news']],
    ['a guest', CAST.guest, ['#general']],
    ['somebody of another company', CAST.outsider, ['#partners']],
  ])('%s sees only their conversations, and always the one with the app', async (_who, userId, names) => {
    const { server, state } = await pageForTest({ slack: { app: { name: 'Countersign' } } });
    const client = await ClientForTest.open(server, userId);
    const shown = client.get('channel').map(({ name, type }) => (type === 'im' ? name : `#${name}`));
    expect(shown).toEqual([...names, 'Countersign']);
    expect(client.get('channel').find(({ type }) => type === 'im')?.members).toEqual([
      userId,
      state.app.botUserId,
    ]);
  });

  test('a guest gets no byte of a private channel', async () => {
    const { server, slack, workspace } = await pageForTest();
    const { ts } = workspace.as(CAST.requester).send(releases, 'the old secret');
    const place = { channel_id: releases, thread_ts: ts };
    await call(slack, 'assistant.threads.setStatus', { ...place, status: 'tells a secret' });
    await call(slack, 'chat.postEphemeral', { channel: releases, user: CAST.bruno, text: 'a secret' });
    const guest = await ClientForTest.open(server, CAST.guest);
    const alice = await ClientForTest.open(server, CAST.alice);
    await postText(slack, { channel: releases, text: 'the new secret' });
    workspace.as(CAST.requester).send(general, 'lunch?');
    await guest.until(() => guest.texts().includes('lunch?'));
    expect(alice.texts()).toContain('the old secret');
    expect(guest.raw).not.toMatch(/secret|releases|C0RELEASE2/);
  });

  test('no client gets a token, a secret or private metadata of a view', async () => {
    const { server, slack, state } = await pageForTest();
    const view = { type: 'home', blocks: [section('hello')], private_metadata: 'for the app alone' };
    await call(slack, 'views.publish', { user_id: CAST.alice, view });
    const { raw, shown } = await ClientForTest.open(server, CAST.alice);
    expect(shown.get('home')).toMatchObject({ view: { blocks: [section('hello')] } });
    const { botToken, appToken, signingSecret, verificationToken } = state.app;
    for (const secret of [botToken, appToken, signingSecret, verificationToken, 'for the app alone'])
      expect(raw).not.toContain(secret);
  });

  test('a person has a role', async () => {
    const { server, state } = await pageForTest({
      page: { about: { [CAST.alice]: { title: 'Approver', about: 'signs refunds' } } },
    });
    const bruno = state.users.get(CAST.bruno);
    if (bruno !== undefined) bruno.deleted = true;
    const client = await ClientForTest.open(server, CAST.requester);
    expect(client.get('person').map(({ name, role, about }) => [name, role, about])).toEqual([
      ['remi', 'member', ''],
      ['alice', 'member', 'signs refunds'],
      ['bruno', 'deactivated', ''],
      ['ada', 'admin', ''],
      ['gil', 'guest', ''],
      ['olga', 'other-company', ''],
      ['countersign', 'bot', ''],
    ]);
    expect(client.get('group').map(({ handle, users }) => [handle, users])).toEqual([
      ['approvers', [CAST.alice, CAST.bruno]],
    ]);
  });

  test('an ephemeral message is for its viewer alone, until they dismiss it', async () => {
    const { server, slack } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const bruno = await ClientForTest.open(server, CAST.bruno);
    await call(slack, 'chat.postEphemeral', { channel: general, user: CAST.alice, text: 'psst' });
    await postText(slack, { text: 'for all' });
    await bruno.until(() => bruno.texts().includes('for all'));
    expect(bruno.raw).not.toContain('psst');
    await alice.until(() => alice.texts().includes('psst'));
    const [psst] = alice.get('message').filter(({ isEphemeral }) => isEphemeral);
    const message = { channel: general, ts: psst?.ts ?? '' };
    expect(await act(server, CAST.bruno, 'dismiss', message)).toEqual({
      ok: false,
      error: 'This message no longer exists.',
    });
    expect(await act(server, CAST.alice, 'dismiss', message)).toEqual({ ok: true });
    await alice.until(() => !alice.texts().includes('psst'));
    expect(alice.changes.at(-1)?.gone).toEqual([`message:${general}:${psst?.ts}`]);
  });

  test('a streamed message grows until it is finished', async () => {
    const { server, slack, workspace } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const { ts } = workspace.as(CAST.alice).send(general, 'tell me');
    const recipient = { recipient_user_id: CAST.alice, recipient_team_id: 'T0LOCAL001' };
    const started = await call(slack, 'chat.startStream', {
      channel: general,
      thread_ts: ts,
      markdown_text: 'Once',
      ...recipient,
    });
    const shown = () => alice.get('message').find((message) => message.ts === started.ts);
    await alice.until(() => shown()?.text === 'Once');
    expect(shown()).toMatchObject({ isStreaming: true, threadTs: ts });
    const stream = { channel: general, ts: started.ts };
    await call(slack, 'chat.stopStream', { ...stream, markdown_text: ' upon a time' });
    await alice.until(() => shown()?.text === 'Once upon a time' && shown()?.isStreaming === false);
    expect(shown()?.isEdited).toBe(false);
  });

  test('a thread lists its participants; the status line and the Stop button appear and disappear', async () => {
    const { server, slack, workspace } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const { ts } = workspace.as(CAST.alice).send(general, 'deploy it');
    const place = { channel_id: general, thread_ts: ts };
    await call(slack, 'assistant.threads.setStatus', { ...place, status: 'is thinking' });
    const status = () => alice.get('status')[0];
    await alice.until(() => status()?.text === 'is thinking');
    expect(status()).toMatchObject({ threadTs: ts, canStop: true, session: { status: 'processing' } });
    await postText(slack, { thread_ts: ts, text: 'done' });
    await call(slack, 'agents.sessions.setStatus', { ...place, status: 'active', title: 'A deployment' });
    await alice.until(() => status()?.canStop === false);
    expect(status()).toMatchObject({ text: '', session: { status: 'active' } });
    workspace.as(CAST.bruno).send(general, 'nice', { threadTs: ts });
    await alice.until(() => alice.get('thread')[0]?.replies === 2);
    expect(alice.get('thread')[0]?.participants).toEqual([workspace.state.app.botUserId, CAST.bruno]);
    await expect(act(server, CAST.alice, 'stop', { channel: general, threadTs: ts })).resolves.toEqual({
      ok: false,
      error: 'Nothing is running here.',
    });
  });

  test('the modal in front has the greatest depth', async () => {
    const { server, slack, workspace } = await pageForTest({ slack: { app: { commands: ['/ask'] } } });
    const alice = await ClientForTest.open(server, CAST.alice);
    const openWith = async (method: string, view: object) => {
      await act(server, CAST.alice, 'command', { command: '/ask', text: '', channel: general });
      const { trigger_id } = workspace.deliveries.at(-1)?.payload ?? {};
      await call(slack, method, { trigger_id, view });
    };
    await openWith('views.open', modal({ callback_id: 'first' }));
    await openWith('views.push', modal({ title: { type: 'plain_text', text: 'Second' } }));
    await alice.until(() => alice.get('modal').length === 2);
    const depths = alice.get('modal').map(({ depth, view }) => [view.title?.text, depth]);
    expect(depths).toEqual([
      ['Why?', 0],
      ['Second', 1],
    ]);
    const front = alice.get('modal').find(({ depth }) => depth === 1);
    await act(server, CAST.alice, 'close', { viewId: front?.view.id ?? '' });
    await alice.until(() => alice.get('modal').length === 1);
  });

  test('the prompts that the app suggests are in its direct messages', async () => {
    const { server, slack, workspace } = await pageForTest();
    const channel_id = workspace.directMessages(CAST.alice);
    const prompts = [{ title: 'Refund', message: 'Refund order 7' }];
    await call(slack, 'assistant.threads.setSuggestedPrompts', { channel_id, title: 'Try', prompts });
    const alice = await ClientForTest.open(server, CAST.alice);
    expect(alice.get('prompts')).toMatchObject([{ channel: channel_id, title: 'Try', prompts }]);
    expect((await ClientForTest.open(server, CAST.bruno)).get('prompts')).toEqual([]);
  });
});

describe('the events of a client', () => {
  test('is everything at first, and then only what changed', async () => {
    const { server, workspace } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const { ts } = workspace.as(CAST.requester).send(general, 'hello');
    await alice.until(() => alice.changes.length === 2);
    expect(alice.changes[0]?.fresh).toBe(true);
    expect(alice.changes[1]).toMatchObject({ fresh: false, gone: [] });
    expect(alice.changes[1]?.set.map(({ key }) => key)).toEqual([
      `channel:${general}`,
      `message:${general}:${ts}`,
    ]);
    workspace.as(CAST.requester).react({ channel: general, ts }, 'eyes');
    await alice.until(() => alice.changes.length === 3);
    expect(alice.changes[2]?.set.map(({ key }) => key)).toEqual([`message:${general}:${ts}`]);
    workspace.as(CAST.requester).delete({ channel: general, ts });
    await alice.until(() => alice.changes.length === 4);
    expect(alice.changes[3]?.gone).toEqual([`message:${general}:${ts}`]);
  });

  test('is nothing when a change does not concern them', async () => {
    const { server, workspace } = await pageForTest();
    const guest = await ClientForTest.open(server, CAST.guest);
    const alice = await ClientForTest.open(server, CAST.alice);
    workspace.as(CAST.requester).send(releases, 'not for guests');
    await alice.until(() => alice.texts().includes('not for guests'));
    workspace.as(CAST.requester).send(general, 'for everybody');
    await guest.until(() => guest.texts().includes('for everybody'));
    expect(guest.changes).toHaveLength(2);
  });

  test('is one change for simultaneous events', async () => {
    const { server, workspace } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    for (let count = 1; count <= 20; count += 1)
      workspace.as(CAST.requester).send(general, `message ${count}`);
    await alice.until(() => alice.texts().length === 20);
    expect(alice.changes).toHaveLength(2);
  });

  test('is everything again after a reconnect', async () => {
    const { server, workspace } = await pageForTest();
    await ClientForTest.open(server, CAST.alice);
    workspace.as(CAST.requester).send(general, 'while you were away');
    const again = await ClientForTest.open(server, CAST.alice);
    expect(again.changes[0]?.fresh).toBe(true);
    expect(again.texts()).toEqual(['while you were away']);
  });

  test('shows the state of the bot, and the kill button works', async () => {
    const { server, playground } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    expect(alice.shown.get('playground')).toMatchObject({ bot: { state: 'connected', kills: 0 } });
    const response = await fetch(`${server.url}/playground/kill`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(200);
    await alice.until(() => alice.get('playground')[0]?.bot.state === 'down');
    expect(playground.bot.kills).toBe(1);
  });

  test('shows the job of the terminal, and its buttons work; there are no others', async () => {
    const { server } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const press = async (name: string) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${server.url}/playground/${name}`, { method: 'POST', headers, body: '{}' }))
        .status;
    };
    expect(await press('start-job')).toBe(200);
    await alice.until(() => alice.get('playground')[0]?.job?.state === 'running');
    expect(await press('interrupt-job')).toBe(200);
    await alice.until(() => alice.get('playground')[0]?.job?.exitCode === 82);
    expect(await press('format-disk')).toBe(404);
  });
});
