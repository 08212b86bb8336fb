import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS, DEFAULT_SCOPES } from '../../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { call, connected, errorOf, events, lastPayload, section, slackForTest } from './support.ts';

const { general, withoutBot } = CHANNELS;

describe('interactions with the app', () => {
  test('is sent when they open the Home tab, with the view if there is one', async () => {
    const { slack, workspace, client } = await connected();
    const alice = workspace.as(CAST.alice);
    alice.openHome();
    await workspace.until(() => client.envelopes.length === 1);
    const channel = workspace.directMessages(CAST.alice);
    expect(events(client)[0]).toMatchObject({
      type: 'app_home_opened',
      user: CAST.alice,
      channel,
      tab: 'home',
      context: {},
    });
    expect(events(client)[0]).not.toHaveProperty('view');
    const view = { type: 'home', blocks: [section('nothing waits')] };
    await call(slack, 'views.publish', { user_id: CAST.alice, view });
    alice.openHome();
    alice.openHome('messages', { lookingAt: general });
    await workspace.until(() => client.envelopes.length === 3);
    expect(events(client)[1]).toMatchObject({ tab: 'home', view: { type: 'home', blocks: view.blocks } });
    expect(events(client)[2]).toMatchObject({
      tab: 'messages',
      context: { entities: [{ type: 'slack#/types/channel_id', value: general }] },
    });
  });

  test('is no Home for an app without one', async () => {
    const slack = await slackForTest({ app: { homeTab: false } });
    expect(() => slack.workspace.as(CAST.alice).openHome()).toThrow('has no Home tab');
    const view = { type: 'home', blocks: [section('hi')] };
    expect(await errorOf(slack, 'views.publish', { user_id: CAST.alice, view })).toBe('not_enabled');
  });

  test('is sent as they change channels', async () => {
    const { workspace, client } = await connected();
    workspace.as(CAST.alice).viewChannel(general);
    await workspace.until(() => client.envelopes.length === 1);
    expect(events(client)[0]).toMatchObject({
      type: 'app_context_changed',
      user: CAST.alice,
      context: { entities: [{ value: general }] },
    });
  });

  test('renames a session', async () => {
    const { slack, workspace, client } = await connected({
      app: { events: ['agent_session_title_changed'] },
    });
    const { ts } = workspace.as(CAST.alice).send(general, 'deploy');
    const thread = { channel: general, threadTs: ts };
    expect(() => workspace.as(CAST.alice).renameSession(thread, 'new')).toThrow('There is no session');
    const given = { channel_id: general, thread_ts: ts, status: 'active', title: 'old' };
    await call(slack, 'agents.sessions.setStatus', given);
    workspace.as(CAST.alice).renameSession(thread, 'new');
    await workspace.until(() => client.envelopes.length === 1);
    expect(events(client)[0]).toMatchObject({ title: 'new', previous_title: 'old', thread_ts: ts });
    expect(workspace.sessionOf(general, ts)?.title).toBe('new');
  });
});

describe('suggested prompts', () => {
  const prompts = [{ title: 'Refund', message: 'Refund order 7' }];

  test('are offered in the conversation with the app', async () => {
    const slack = await slackForTest();
    const channel_id = slack.workspace.directMessages(CAST.alice);
    const given = { channel_id, prompts, title: 'Try' };
    expect(await call(slack, 'assistant.threads.setSuggestedPrompts', given)).toEqual({ ok: true });
    expect(slack.workspace.suggestedPromptsFor(CAST.alice)).toEqual({ prompts, title: 'Try' });
    expect(slack.workspace.suggestedPromptsFor(CAST.bruno)).toBeUndefined();
  });

  test('are silently lost when an agent names a thread', async () => {
    const slack = await slackForTest();
    const channel_id = slack.workspace.directMessages(CAST.alice);
    const given = { channel_id, prompts, thread_ts: '1700000000.000001' };
    expect(await call(slack, 'assistant.threads.setSuggestedPrompts', given)).toEqual({ ok: true });
    expect(slack.workspace.suggestedPromptsFor(CAST.alice)).toBeUndefined();
    expect(slack.workspace.suggestedPromptsFor(CAST.alice, given.thread_ts)).toBeUndefined();
  });

  test('are refused when they are broken or too many', async () => {
    const slack = await slackForTest();
    const channel_id = slack.workspace.directMessages(CAST.alice);
    const refusal = (given: JsonObject) =>
      errorOf(slack, 'assistant.threads.setSuggestedPrompts', { channel_id, ...given });
    expect(await refusal({ prompts: [] })).toBe('invalid_arguments');
    expect(await refusal({ prompts: [{ title: 'only' }] })).toBe('invalid_arguments');
    expect(await refusal({ prompts: Array.from({ length: 5 }, () => prompts[0]) })).toBe('invalid_arguments');
    expect(await refusal({ prompts, channel_id: 'D0NOWHERE1' })).toBe('channel_not_found');
  });
});

describe('the older surface', () => {
  test("starts threads, sends the person's channel, and accepts prompts and a title for a thread", async () => {
    const { slack, workspace, client } = await connected({ app: { agent: 'assistant_view' } });
    const alice = workspace.as(CAST.alice);
    const { channel, threadTs } = alice.openAssistantThread({ lookingAt: general });
    alice.viewChannel(CHANNELS.releases);
    alice.send(channel, 'hello', { threadTs });
    await workspace.until(() => events(client).some(({ text }) => text === 'hello'));
    const thread = { user_id: CAST.alice, channel_id: channel, thread_ts: threadTs };
    expect(events(client)).toMatchObject([
      { type: 'message', subtype: 'assistant_app_thread', ts: threadTs },
      { type: 'assistant_thread_started', assistant_thread: { ...thread, context: { channel_id: general } } },
      {
        type: 'assistant_thread_context_changed',
        assistant_thread: { ...thread, context: { channel_id: CHANNELS.releases } },
      },
      { type: 'message', channel_type: 'im', thread_ts: threadTs },
    ]);
    const prompts = [{ title: 'One', message: 'one' }];
    const place = { channel_id: channel, thread_ts: threadTs };
    await call(slack, 'assistant.threads.setSuggestedPrompts', { ...place, prompts });
    expect(workspace.suggestedPromptsFor(CAST.alice, threadTs)).toEqual({ prompts });
    await call(slack, 'assistant.threads.setTitle', { ...place, title: 'Hello' });
    expect(workspace.sessionOf(channel, threadTs)?.title).toBe('Hello');
    const nowhere = { channel_id: channel, thread_ts: '1700000000.000001' };
    expect(await errorOf(slack, 'assistant.threads.setTitle', { ...nowhere, title: 'Hello' })).toBe(
      'invalid_thread_ts',
    );
    const lost = { ...nowhere, prompts };
    expect(await errorOf(slack, 'assistant.threads.setSuggestedPrompts', lost)).toBe('invalid_thread_ts');
  });

  test('is not there for an agent', async () => {
    const slack = await slackForTest();
    expect(() => slack.workspace.as(CAST.alice).openAssistantThread()).toThrow("use openHome('messages')");
    await expect(slackForTest({ app: { events: ['assistant_thread_started'] } })).rejects.toThrow(
      'never gets assistant_thread_started',
    );
  });

  test('needs its scope, as every surface for agents does', async () => {
    const scopes = DEFAULT_SCOPES.filter((scope) => scope !== 'assistant:write');
    await expect(slackForTest({ app: { scopes, agent: 'assistant_view' } })).rejects.toThrow(
      'assistant:write',
    );
    const slack = await slackForTest({ app: { scopes } });
    expect(slack.workspace.state.app.agent).toBe('none');
  });
});

describe('reactions and members', () => {
  test('are delivered where the bot is a member', async () => {
    const { slack, workspace, client } = await connected();
    const alice = workspace.as(CAST.alice);
    const bot = workspace.state.app.botUserId;
    const said = workspace.as(CAST.bruno).send(general, 'deploy?');
    alice.react(said, 'eyes');
    expect(() => alice.react(said, 'eyes')).toThrow('already reacted');
    await call(slack, 'reactions.add', { channel: general, timestamp: said.ts, name: 'rocket' });
    alice.unreact(said, 'eyes');
    alice.invite(withoutBot, bot);
    workspace.as(CAST.bruno).join(withoutBot);
    workspace.as(CAST.bruno).leave(withoutBot);
    await workspace.until(() => client.envelopes.length === 7);
    const item = { type: 'message', channel: general, ts: said.ts };
    expect(events(client).slice(1)).toMatchObject([
      { type: 'reaction_added', user: CAST.alice, reaction: 'eyes', item, item_user: CAST.bruno },
      { type: 'reaction_added', user: bot, reaction: 'rocket' },
      { type: 'reaction_removed', user: CAST.alice, reaction: 'eyes' },
      {
        type: 'member_joined_channel',
        user: bot,
        channel: withoutBot,
        inviter: CAST.alice,
        channel_type: 'C',
      },
      { type: 'member_joined_channel', user: CAST.bruno },
      { type: 'member_left_channel', user: CAST.bruno },
    ]);
    const reacted = await call(slack, 'reactions.get', { channel: general, timestamp: said.ts });
    expect(reacted).toMatchObject({ message: { reactions: [{ name: 'rocket', users: [bot], count: 1 }] } });
    expect(lastPayload(client)).toMatchObject({ type: 'event_callback' });
  });
});
