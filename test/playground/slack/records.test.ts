import { WebClient } from '@slack/web-api';
import { describe, expect, test } from 'vitest';
import { appFromManifest } from '../../../playground/slack/app-from-manifest.ts';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import {
  BareClient,
  buttonBlock,
  call,
  connected,
  errorOf,
  modal,
  postCard,
  postText,
  section,
  slackForTest,
} from './support.ts';

const { general, releases } = CHANNELS;

describe('the payloads of the app', () => {
  test('can be had whole: calls, responses and answers, with their JSON read', async () => {
    const { slack, workspace, client } = await connected({ app: { commands: ['/ask'] } });
    const web = new WebClient(slack.botToken, { slackApiUrl: slack.apiUrl });
    const blocks = [{ type: 'divider' } as const];
    await web.chat.postMessage({ channel: general, text: 'hi', blocks });
    await errorOf(slack, 'chat.postMessage', { channel: general });
    client.answer = ({ type }) => (type === 'slash_commands' ? { text: 'ok' } : {});
    await workspace.as(CAST.alice).command('/ask');
    const url = String(workspace.deliveries.at(-1)?.payload.response_url);
    await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'later', blocks }) });
    await fetch(url, { method: 'POST', body: JSON.stringify({ blocks: [section('')] }) });
    const sent = workspace.payloads();
    expect(sent.filter(({ name }) => name !== 'apps.connections.open')).toEqual([
      { by: 'call', name: 'chat.postMessage', payload: { channel: general, text: 'hi', blocks } },
      { by: 'call', name: 'chat.postMessage', payload: { channel: general }, error: 'no_text' },
      { by: 'response_url', name: 'response_url', payload: { text: 'later', blocks } },
      {
        by: 'response_url',
        name: 'response_url',
        payload: { blocks: [section('')] },
        error: 'invalid_blocks',
      },
      { by: 'answer', name: 'slash_commands', payload: { text: 'ok' } },
    ]);
  });
});

describe('the used scopes and events', () => {
  test('is the scopes its calls and events needed, and no others', async () => {
    const { slack, workspace, client } = await connected({ app: { commands: ['/ask'] } });
    expect([workspace.usedScopes(), workspace.usedEvents()]).toEqual([[], []]);
    const said = workspace.as(CAST.alice).send(releases, 'hi');
    await workspace.until(() => client.envelopes.length === 1);
    expect(workspace.usedScopes()).toEqual(['groups:history']);
    await call(slack, 'conversations.replies', { channel: releases, ts: said.ts });
    await call(slack, 'usergroups.users.list', { usergroup: APPROVERS_GROUP });
    await call(slack, 'chat.postMessage', { channel: releases, text: 'hello' });
    await call(slack, 'views.publish', { user_id: CAST.alice, view: { type: 'home', blocks: [] } });
    await workspace.as(CAST.alice).command('/ask');
    workspace.as(CAST.alice).openHome();
    workspace.as(CAST.bruno).leave(releases);
    expect(workspace.usedScopes()).toEqual([
      'chat:write',
      'commands',
      'groups:history',
      'groups:read',
      'usergroups:read',
    ]);
    expect(workspace.usedEvents()).toEqual(['app_home_opened', 'member_left_channel', 'message.groups']);
  });

  test('counts neither refused calls nor events without a subscription', async () => {
    const { slack, workspace } = await connected({ app: { scopes: ['chat:write'], events: [] } });
    await errorOf(slack, 'users.info', { user: CAST.alice });
    workspace.as(CAST.alice).send(general, 'hi');
    expect([workspace.usedScopes(), workspace.usedEvents()]).toEqual([[], []]);
  });

  test('shows that a session needs an agent, and a channel without the bot its own scope', async () => {
    const slack = await slackForTest({
      app: { scopes: ['chat:write', 'chat:write.public', 'assistant:write'], events: [] },
    });
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'hi');
    await call(slack, 'agents.sessions.setStatus', { channel_id: general, thread_ts: ts, status: 'active' });
    await postText(slack, { channel: CHANNELS.withoutBot });
    expect(slack.workspace.usedScopes()).toEqual(['assistant:write', 'chat:write', 'chat:write.public']);
  });
});

describe('metadata', () => {
  const metadata = { event_type: 'card', event_payload: { id: 'r1', revision: 2 } };

  test('is read back with a thread or a channel when it is asked for', async () => {
    const slack = await slackForTest();
    const root = await postText(slack, { metadata });
    const thread_ts = root.ts;
    await postText(slack, { metadata, thread_ts });
    const range = { channel: general, include_all_metadata: true };
    const history = await call(slack, 'conversations.history', range);
    expect(history.messages).toMatchObject([{ metadata }]);
    const replies = await call(slack, 'conversations.replies', { ...range, ts: thread_ts });
    expect(replies.messages).toMatchObject([{ metadata }, { metadata }]);
    const plain = await call(slack, 'conversations.replies', { channel: general, ts: thread_ts });
    expect(JSON.stringify(plain)).not.toContain('metadata":{"event_type');
  });

  test('is part of the clicked message', async () => {
    const { slack, workspace, client } = await connected();
    await call(slack, 'chat.postMessage', { channel: general, blocks: [buttonBlock('go')], metadata });
    const card = workspace.messagesIn(general)[0];
    await workspace.as(CAST.alice).click(card ?? { channel: '', ts: '' }, 'go');
    expect(client.envelopes.at(-1)?.payload).toMatchObject({ message: { metadata } });
  });
});

describe('an app manifest', () => {
  const manifest = {
    display_information: { name: 'Countersign' },
    features: {
      app_home: { home_tab_enabled: true },
      agent_view: { agent_description: 'Does things.' },
      slash_commands: [{ command: '/approvals', description: 'What waits.' }],
    },
    oauth_config: { scopes: { bot: ['assistant:write', 'chat:write', 'commands'] } },
    settings: {
      event_subscriptions: { bot_events: ['app_home_opened', 'agent_session_stopped'] },
      socket_mode_enabled: true,
    },
  };

  test('creates the same app as Slack', async () => {
    const slack = await slackForTest({ app: appFromManifest(manifest) });
    expect(slack.workspace.state.app).toMatchObject({
      name: 'Countersign',
      scopes: ['assistant:write', 'chat:write', 'commands'],
      events: ['app_home_opened', 'agent_session_stopped'],
      commands: ['/approvals'],
      agent: 'agent_view',
      homeTab: true,
      socketMode: true,
    });
    expect(await errorOf(slack, 'users.info', { user: CAST.alice })).toBe('missing_scope');
  });

  test('is refused with events that are not known here', () => {
    const settings = { event_subscriptions: { bot_events: ['app_mention', 'star_added'] } };
    expect(() => appFromManifest({ ...manifest, settings })).toThrow('subscribes to star_added');
  });

  test('leaves missing parts empty', () => {
    const { features: _features, settings: _settings, ...bare } = manifest;
    expect(appFromManifest(bare)).toMatchObject({
      agent: 'none',
      homeTab: false,
      socketMode: false,
      events: [],
    });
  });
});

describe('people and channels', () => {
  test('are shown with everything that decides who may approve', async () => {
    const users = [
      { id: CAST.alice, name: 'alice', tz: 'Europe/Paris', tz_label: 'Paris', tz_offset: 7_200 },
      { id: CAST.guest, name: 'gil', is_restricted: true, is_ultra_restricted: true },
      { id: CAST.outsider, name: 'olga', team_id: 'T0OUTSIDE2', is_stranger: true },
      { id: CAST.bruno, name: 'bruno', deleted: true },
    ];
    const slack = await slackForTest({ users });
    const user = async (id: string) => (await call(slack, 'users.info', { user: id })).user;
    expect(await user(CAST.alice)).toMatchObject({ ...users[0], team_id: 'T0LOCAL001', is_bot: false });
    expect(await user(CAST.guest)).toMatchObject({ ...users[1], is_stranger: false, tz: 'Etc/UTC' });
    expect(await user(CAST.outsider)).toMatchObject({ ...users[2] });
    expect(await user(CAST.bruno)).toMatchObject({ deleted: true });
    expect(await user(slack.workspace.state.app.botUserId)).toMatchObject({ is_bot: true });
  });

  test('have a team, and only their own', async () => {
    const slack = await slackForTest();
    expect(await call(slack, 'team.info')).toMatchObject({
      team: { id: 'T0LOCAL001', domain: 'corner-shop' },
    });
    expect(await errorOf(slack, 'team.info', { team: 'T0OUTSIDE2' })).toBe('team_not_found');
  });

  test('have direct messages, which can be looked for without being opened, and no group ones', async () => {
    const slack = await slackForTest({ app: { scopes: ['im:write', 'mpim:write'], events: [] } });
    const open = (users: string, prevent_creation = false) =>
      call(slack, 'conversations.open', { users, prevent_creation });
    expect(await open(CAST.alice, true)).toMatchObject({ error: 'channel_not_found' });
    expect(await open(CAST.alice)).toMatchObject({ ok: true });
    expect(await open(CAST.alice, true)).toMatchObject({ ok: true, already_open: true });
    expect(await open(`${CAST.alice},${CAST.bruno}`)).toMatchObject({
      error: 'method_not_supported_for_channel_type',
    });
  });

  test('get no files and no videos', async () => {
    const slack = await slackForTest();
    const post = (blocks: unknown) => errorOf(slack, 'chat.postMessage', { channel: general, blocks });
    expect(await post([{ type: 'file', external_id: 'F1', source: 'remote' }])).toBe('invalid_blocks');
    const video = { type: 'video', video_url: 'https://a.example/v', alt_text: 'v', thumbnail_url: 'x' };
    expect(await post([{ ...video, title: { type: 'plain_text', text: 'v' } }])).toBe('invalid_blocks');
  });
});

test('an event is delivered the configured number of times with the same id', async () => {
  const { workspace, client } = await connected({ eventCopies: 3 });
  workspace.as(CAST.alice).send(general, 'hi');
  await workspace.until(() => client.envelopes.length === 3);
  expect(new Set(client.envelopes.map(({ payload }) => payload.event_id)).size).toBe(1);
});

test('a delivery can be repeated although it was acknowledged', async () => {
  const { workspace, client, slack } = await connected({ app: { events: ['message.channels'] } });
  workspace.as(CAST.alice).send(general, 'hi');
  const delivery = await workspace.until(
    () => workspace.deliveries[0]?.outcome.kind === 'acknowledged' && workspace.deliveries[0],
  );
  expect(await workspace.redeliver(delivery)).toEqual({ kind: 'answered', payload: {} });
  expect(client.envelopes.map(({ retry_attempt }) => retry_attempt)).toEqual([0, 1]);
  const card = await postCard(slack, [buttonBlock('go')]);
  client.answer = () => ({});
  await workspace.as(CAST.alice).click(card, 'go');
  const click = workspace.deliveries.at(-1);
  if (click !== undefined) await workspace.redeliver(click);
  expect(client.envelopes.slice(-2).map(({ payload }) => payload.type)).toEqual([
    'block_actions',
    'block_actions',
  ]);
  await expect(workspace.replay(delivery)).rejects.toThrow('not delivered over HTTP');
});

test('one of two connections can be refreshed while the other continues', async () => {
  const { slack, workspace, client } = await connected({ timings: { socketDrain: 0 } });
  const second = await BareClient.connect(slack);
  workspace.disconnectSockets('refresh_requested', 1);
  await workspace.until(() => workspace.socketConnections === 1);
  expect([client.disconnects.length, second.disconnects.length]).toEqual([1, 0]);
  workspace.as(CAST.alice).send(general, 'still there?');
  await workspace.until(() => second.envelopes.length === 1);
});

test('a modal can be opened from a command and is closed by its answer', async () => {
  const { slack, workspace, client } = await connected({ app: { commands: ['/ask'] } });
  await workspace.as(CAST.alice).command('/ask');
  const trigger_id = client.envelopes.at(-1)?.payload.trigger_id;
  expect(await call(slack, 'views.open', { trigger_id, view: modal() })).toMatchObject({ ok: true });
  const view = workspace.modalOf(CAST.alice);
  expect(await workspace.as(CAST.alice).submit(view?.id ?? '', { reason: 'yes' })).toEqual({
    kind: 'closed',
  });
});
