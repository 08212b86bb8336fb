import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { connected, events, lastPayload, postCard, section } from './support.ts';

const { general, releases, partners, withoutBot } = CHANNELS;

describe('a message of a person', () => {
  test('is one message event and, with a mention, one app_mention of its own id', async () => {
    const { workspace, client } = await connected();
    const text = `<@${workspace.state.app.botUserId}> deploy`;
    const said = workspace.as(CAST.alice).send(general, text);
    await workspace.until(() => client.envelopes.length === 2);
    const common = {
      user: CAST.alice,
      text,
      ts: said.ts,
      event_ts: said.ts,
      channel: general,
      team: 'T0LOCAL001',
    };
    expect(events(client)).toMatchObject([
      { ...common, type: 'message', channel_type: 'channel', blocks: [{ type: 'rich_text' }] },
      { ...common, type: 'app_mention' },
    ]);
    expect(events(client)[1]).not.toHaveProperty('channel_type');
    expect(new Set(client.envelopes.map(({ payload }) => payload.event_id)).size).toBe(2);
  });

  test('sends app_mention again when a mention is edited, marked as edited', async () => {
    const { workspace, client } = await connected({ app: { events: ['app_mention'] } });
    const said = workspace.as(CAST.alice).send(general, `<@${workspace.state.app.botUserId}> deplyo`);
    workspace.as(CAST.alice).edit(said, `<@${workspace.state.app.botUserId}> deploy`);
    await workspace.until(() => client.envelopes.length === 2);
    expect(events(client)[0]).not.toHaveProperty('edited');
    expect(events(client)[1]).toMatchObject({
      type: 'app_mention',
      ts: said.ts,
      edited: { user: CAST.alice },
    });
  });

  test('in direct messages is never an app_mention', async () => {
    const { workspace, client } = await connected();
    workspace
      .as(CAST.alice)
      .send(workspace.directMessages(CAST.alice), `<@${workspace.state.app.botUserId}> hi`);
    workspace.as(CAST.alice).send(releases, 'last');
    await workspace.until(() => events(client).some(({ text }) => text === 'last'));
    expect(events(client).map(({ type, channel_type }) => [type, channel_type])).toEqual([
      ['message', 'im'],
      ['message', 'group'],
    ]);
  });

  test('sends no event where the bot is no member, nor without a subscription', async () => {
    const { workspace, client } = await connected({ app: { events: ['app_mention'] } });
    const mention = `<@${workspace.state.app.botUserId}>`;
    workspace.as(CAST.alice).send(withoutBot, mention);
    workspace.as(CAST.alice).send(general, 'no mention');
    workspace.as(CAST.alice).send(general, mention);
    await workspace.until(() => client.envelopes.length > 0);
    expect(events(client)).toMatchObject([{ type: 'app_mention', channel: general }]);
  });

  test('in a thread names the thread and the author of its root', async () => {
    const { workspace, client } = await connected();
    const root = workspace.as(CAST.alice).send(general, 'root');
    workspace.as(CAST.bruno).send(general, 'reply', { threadTs: root.ts });
    await workspace.until(() => client.envelopes.length === 2);
    expect(events(client)[1]).toMatchObject({ thread_ts: root.ts, parent_user_id: CAST.alice });
  });

  test('can be edited and deleted, which sends message_changed and message_deleted', async () => {
    const { workspace, client } = await connected();
    const alice = workspace.as(CAST.alice);
    const said = alice.send(general, 'befor');
    alice.edit(said, 'before');
    alice.delete(said);
    await workspace.until(() => client.envelopes.length === 3);
    expect(events(client).slice(1)).toMatchObject([
      {
        subtype: 'message_changed',
        hidden: true,
        message: { text: 'before', ts: said.ts, edited: { user: CAST.alice } },
        previous_message: { text: 'befor', ts: said.ts },
      },
      { subtype: 'message_deleted', hidden: true, deleted_ts: said.ts, previous_message: { text: 'before' } },
    ]);
    expect(workspace.messagesIn(general)).toEqual([]);
  });

  test('is marked with the other workspace when it comes from there', async () => {
    const { workspace, client } = await connected();
    workspace.as(CAST.outsider).send(partners, 'hello from outside');
    await workspace.until(() => client.envelopes.length === 1);
    expect(lastPayload(client)).toMatchObject({
      is_ext_shared_channel: true,
      event: { user_team: 'T0OUTSIDE2' },
    });
  });

  test('is refused where they cannot write', async () => {
    const { workspace } = await connected();
    expect(() => workspace.as(CAST.guest).send(withoutBot, 'hi')).toThrow('cannot see #random');
    expect(() => workspace.as(CAST.bruno).send(withoutBot, 'hi')).toThrow('is not in #random');
    expect(() => workspace.as(CAST.requester).send(CHANNELS.archived, 'hi')).toThrow('is archived');
    const alice = workspace.state.users.get(CAST.alice);
    if (alice !== undefined) alice.deleted = true;
    expect(() => workspace.as(CAST.alice).send(general, 'hi')).toThrow('deactivated');
    expect(() => workspace.as('U0NOBODY01')).toThrow('no user U0NOBODY01');
  });
});

test('the bot gets its own messages, with its bot and app ids', async () => {
  const { slack, workspace, client } = await connected();
  await postCard(slack, [section('hi')]);
  await workspace.until(() => client.envelopes.length === 1);
  const { botId, id, botUserId } = workspace.state.app;
  expect(events(client)[0]).toMatchObject({ type: 'message', user: botUserId, bot_id: botId, app_id: id });
});
