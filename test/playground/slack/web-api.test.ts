import { describe, expect, test } from 'vitest';
import { APPROVERS_GROUP, CAST, CHANNELS, DEFAULT_USERS } from '../../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { call, errorOf, modal, parsed, postText, section, slackForTest } from './support.ts';

const { general, releases, withoutBot } = CHANNELS;

describe('the Web API', () => {
  test('takes a form as it takes JSON', async () => {
    const slack = await slackForTest();
    const blocks = JSON.stringify([section('from a form')]);
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.botToken}` },
      body: new URLSearchParams({ channel: general, text: 'from a form', blocks }),
    });
    expect(await parsed(response)).toMatchObject({ ok: true, channel: general });
    expect(slack.workspace.messagesIn(general)[0]?.blocks).toMatchObject([section('from a form')]);
  });

  test('refuses a missing, a wrong and the other token', async () => {
    const slack = await slackForTest();
    const bare = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST' });
    expect(await parsed(bare)).toEqual({ ok: false, error: 'not_authed' });
    expect(await call(slack, 'auth.test', {}, 'xoxb-wrong')).toEqual({ ok: false, error: 'invalid_auth' });
    expect(await call(slack, 'chat.postMessage', {}, slack.appToken)).toMatchObject({
      error: 'not_allowed_token_type',
    });
    expect(await call(slack, 'apps.connections.open')).toMatchObject({ error: 'not_allowed_token_type' });
    expect(slack.workspace.calls.map(({ token }) => token)).toEqual(['none', 'unknown', 'app', 'bot']);
  });

  test('says what is wrong with a payload that is only validated', async () => {
    const slack = await slackForTest();
    const validate = (part: string, payload: unknown) => call(slack, 'blocks.validate', { [part]: payload });
    expect(await validate('blocks', [section('good')])).toEqual({ ok: true });
    expect(await validate('view', modal())).toEqual({ ok: true });
    expect(await validate('blocks', [section('x'.repeat(3_001))])).toMatchObject({
      error: 'invalid_blocks',
      errors: [{ code: 'failed_constraint', pointer: '/0/text/text' }],
    });
    expect(await validate('message', { blocks: [{ type: 'nonsense' }] })).toMatchObject({
      error: 'invalid_message',
    });
    expect(await call(slack, 'blocks.validate', {})).toMatchObject({ error: 'invalid_arguments' });
    expect(slack.workspace.messagesIn(general)).toEqual([]);
  });

  test('refuses methods it does not know', async () => {
    const slack = await slackForTest();
    expect(await call(slack, 'chat.shout')).toEqual({
      ok: false,
      error: 'unknown_method',
      req_method: 'chat.shout',
    });
  });

  test('refuses broken bodies and missing arguments', async () => {
    const slack = await slackForTest();
    const send = async (body: string, type: string) =>
      (
        await parsed(
          await fetch(`${slack.apiUrl}auth.test`, {
            method: 'POST',
            body,
            headers: { 'content-type': type },
          }),
        )
      ).error;
    expect(await send('{', 'application/json')).toBe('invalid_json');
    expect(await send('[]', 'application/json')).toBe('json_not_object');
    expect(await send('hi', 'text/plain')).toBe('invalid_post_type');
    expect(await call(slack, 'chat.postMessage', { text: 'nowhere' })).toMatchObject({
      error: 'invalid_arguments',
      response_metadata: { messages: ['[ERROR] missing required field: channel'] },
    });
  });

  test('names the scope a method needs and the ones there are', async () => {
    const slack = await slackForTest({ app: { scopes: ['channels:read'], events: [] } });
    expect(await call(slack, 'chat.postMessage', { channel: general, text: 'hi' })).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'chat:write',
      provided: 'channels:read',
    });
    expect(await call(slack, 'conversations.info', { channel: releases })).toMatchObject({
      needed: 'groups:read',
    });
    expect(await call(slack, 'conversations.info', { channel: general })).toMatchObject({ ok: true });
  });

  test('does not install an app whose events need more scopes', async () => {
    await expect(slackForTest({ app: { scopes: [], events: ['message.im'] } })).rejects.toThrow('im:history');
  });

  test('answers a rate limit with 429 and Retry-After, as often as configured', async () => {
    const slack = await slackForTest();
    slack.workspace.rateLimit('users.list', { calls: 1, retryAfterSeconds: 7 });
    const request = () =>
      fetch(`${slack.apiUrl}users.list`, { headers: { authorization: `Bearer ${slack.botToken}` } });
    const limited = await request();
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await limited.json()).toEqual({ ok: false, error: 'ratelimited' });
    expect((await request()).status).toBe(200);
  });
});

describe('conversations', () => {
  test('show history newest first, threads oldest first, in pages, with metadata when asked', async () => {
    const slack = await slackForTest();
    const root = await postText(slack, { text: 'root', metadata: { event_type: 'a', event_payload: {} } });
    await postText(slack, { text: 'reply', thread_ts: root.ts });
    await postText(slack, { text: 'next' });
    const first = await call(slack, 'conversations.history', { channel: general, limit: 1 });
    expect(first).toMatchObject({ messages: [{ text: 'next' }], has_more: true });
    const { response_metadata } = first as { response_metadata: { next_cursor: string } };
    const cursor = response_metadata.next_cursor;
    const second = await call(slack, 'conversations.history', { channel: general, limit: 1, cursor });
    expect(second).toMatchObject({ messages: [{ text: 'root', reply_count: 1 }], has_more: false });
    const thread = await call(slack, 'conversations.replies', {
      channel: general,
      ts: root.ts,
      include_all_metadata: true,
    });
    expect(thread).toMatchObject({
      messages: [{ text: 'root', metadata: { event_type: 'a' } }, { text: 'reply' }],
    });
    expect(await errorOf(slack, 'conversations.replies', { channel: general, ts: '1700000000.000001' })).toBe(
      'thread_not_found',
    );
    expect(await errorOf(slack, 'conversations.history', { channel: withoutBot })).toBe('not_in_channel');
  });

  test('have a type and members', async () => {
    const slack = await slackForTest();
    const { channel } = await call(slack, 'conversations.info', { channel: releases });
    expect(channel).toMatchObject({ name: 'releases', is_private: true, is_member: true });
    const { members } = await call(slack, 'conversations.members', { channel: releases });
    expect(members).toEqual([slack.workspace.state.app.botUserId, CAST.requester, CAST.alice, CAST.bruno]);
  });

  test('open once with a person, and not with those Slack refuses', async () => {
    const slack = await slackForTest({
      users: [
        ...DEFAULT_USERS,
        { id: 'U0GONE0007', name: 'gone', deleted: true },
        { id: 'U0FAR00008', name: 'far', is_stranger: true },
      ],
    });
    const first = await call(slack, 'conversations.open', { users: CAST.alice });
    const second = await call(slack, 'conversations.open', { users: CAST.alice });
    expect(second).toMatchObject({ channel: first.channel as JsonObject, already_open: true });
    expect(await errorOf(slack, 'conversations.open')).toBe('users_list_not_supplied');
    expect(await errorOf(slack, 'conversations.open', { users: 'U0NOBODY01' })).toBe('user_not_found');
    expect(await errorOf(slack, 'conversations.open', { users: 'U0GONE0007' })).toBe('user_disabled');
    expect(await errorOf(slack, 'conversations.open', { users: 'U0FAR00008' })).toBe('user_not_found');
    expect(await errorOf(slack, 'conversations.open', { users: slack.workspace.state.app.botUserId })).toBe(
      'cannot_dm_bot',
    );
  });
});

describe('people', () => {
  test('are distinguished: guests, outsiders, bots', async () => {
    const slack = await slackForTest();
    const user = async (id: string) => (await call(slack, 'users.info', { user: id })).user;
    expect(await user(CAST.guest)).toMatchObject({ is_restricted: true, deleted: false });
    expect(await user(CAST.outsider)).toMatchObject({ team_id: 'T0OUTSIDE2' });
    expect(await user(slack.workspace.state.app.botUserId)).toMatchObject({ is_bot: true });
    expect(await errorOf(slack, 'users.info', { user: 'U0NOBODY01' })).toBe('user_not_found');
    const { members } = await call(slack, 'users.list');
    expect(members).toHaveLength(DEFAULT_USERS.length + 1);
    expect(await errorOf(slack, 'bots.info', { bot: 'B0NOBODY01' })).toBe('bot_not_found');
  });

  test('are in user groups', async () => {
    const slack = await slackForTest();
    expect(await call(slack, 'usergroups.users.list', { usergroup: APPROVERS_GROUP })).toMatchObject({
      users: [CAST.alice, CAST.bruno],
    });
    expect(await call(slack, 'usergroups.list')).toMatchObject({
      usergroups: [{ id: APPROVERS_GROUP, handle: 'approvers' }],
    });
    expect(await errorOf(slack, 'usergroups.users.list', { usergroup: 'S0NOBODY01' })).toBe(
      'no_such_subteam',
    );
  });
});

describe('reactions and status', () => {
  test('are added once and removed once', async () => {
    const slack = await slackForTest();
    const { ts } = await postText(slack);
    const given = { channel: general, timestamp: ts, name: 'eyes' };
    expect(await call(slack, 'reactions.add', given)).toEqual({ ok: true });
    expect(await errorOf(slack, 'reactions.add', given)).toBe('already_reacted');
    expect(await call(slack, 'reactions.remove', given)).toEqual({ ok: true });
    expect(await errorOf(slack, 'reactions.remove', given)).toBe('no_reaction');
    expect(await errorOf(slack, 'reactions.add', { ...given, name: 'NOT A NAME' })).toBe('invalid_name');
    expect(await errorOf(slack, 'reactions.add', { ...given, timestamp: '1700000000.000001' })).toBe(
      'message_not_found',
    );
  });

  test('a thread status goes when the bot writes', async () => {
    const slack = await slackForTest();
    const { ts } = await postText(slack);
    const given = { channel_id: general, thread_ts: ts, status: 'is thinking' };
    expect(await call(slack, 'assistant.threads.setStatus', given)).toEqual({ ok: true });
    expect([...slack.workspace.state.threadStatus.values()]).toEqual(['is thinking']);
    await postText(slack, { thread_ts: ts });
    expect(slack.workspace.state.threadStatus.size).toBe(0);
    expect(await errorOf(slack, 'assistant.threads.setStatus', { ...given, thread_ts: '1' })).toBe(
      'invalid_thread_ts',
    );
  });
});

describe('views', () => {
  test('need a trigger that Slack gave out', async () => {
    const slack = await slackForTest();
    expect(await errorOf(slack, 'views.open', { trigger_id: '1.2.x', view: modal() })).toBe(
      'invalid_trigger_id',
    );
    expect(await errorOf(slack, 'views.update', { view_id: 'V0NOTHERE1', view: modal() })).toBe('not_found');
  });

  test('with an error are refused with its pointer', async () => {
    const slack = await slackForTest();
    const view = modal({ title: { type: 'plain_text', text: 'x'.repeat(25) } });
    expect(await call(slack, 'views.open', { trigger_id: '1.2.x', view })).toEqual({
      ok: false,
      error: 'invalid_arguments',
      response_metadata: {
        messages: ['[ERROR] must be less than 25 characters [json-pointer:/view/title/text]'],
      },
    });
  });

  test('of the Home tab are published per person and guarded by their hash', async () => {
    const slack = await slackForTest();
    const view = { type: 'home', blocks: [section('waiting for you')] };
    const published = await call(slack, 'views.publish', { user_id: CAST.alice, view });
    expect(published).toMatchObject({ ok: true, view: { type: 'home' } });
    const again = { user_id: CAST.alice, view, hash: 'old' };
    expect(await errorOf(slack, 'views.publish', again)).toBe('hash_conflict');
    expect(slack.workspace.homeOf(CAST.alice)?.blocks).toMatchObject(view.blocks);
    expect(slack.workspace.homeOf(CAST.bruno)).toBeUndefined();
    expect(await errorOf(slack, 'views.publish', { user_id: CAST.alice, view: modal() })).toBe(
      'invalid_arguments',
    );
  });
});
