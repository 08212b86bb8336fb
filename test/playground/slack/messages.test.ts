import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS, DEFAULT_SCOPES } from '../../../playground/slack/default-cast.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { buttonBlock, call, errorOf, postText, section, slackForTest } from './support.ts';

const { general, releases, withoutBot, archived } = CHANNELS;

describe('messages', () => {
  test('are refused where the bot cannot write', async () => {
    const slack = await slackForTest();
    expect(await errorOf(slack, 'chat.postMessage', { channel: 'C0NOWHERE1', text: 'hi' })).toBe(
      'channel_not_found',
    );
    expect(await errorOf(slack, 'chat.postMessage', { channel: withoutBot, text: 'hi' })).toBe(
      'not_in_channel',
    );
    expect(await errorOf(slack, 'chat.postMessage', { channel: archived, text: 'hi' })).toBe('is_archived');
    slack.workspace.state.channels.get(releases)?.members.delete(slack.workspace.state.app.botUserId);
    expect(await errorOf(slack, 'chat.postMessage', { channel: releases, text: 'hi' })).toBe(
      'channel_not_found',
    );
  });

  test('reach public channels without membership with chat:write.public', async () => {
    const slack = await slackForTest({ app: { scopes: [...DEFAULT_SCOPES, 'chat:write.public'] } });
    expect(await call(slack, 'chat.postMessage', { channel: withoutBot, text: 'hi' })).toMatchObject({
      ok: true,
    });
  });

  test('are refused without content, with too much, or with broken blocks', async () => {
    const slack = await slackForTest();
    const refusal = (given: JsonObject) => errorOf(slack, 'chat.postMessage', { channel: general, ...given });
    expect(await refusal({})).toBe('no_text');
    expect(await refusal({ text: '', blocks: [] })).toBe('no_text');
    expect(await refusal({ text: 'x'.repeat(LIMITS.messageText + 1) })).toBe('msg_too_long');
    expect(await refusal({ blocks: '{' })).toBe('invalid_blocks_format');
    expect(await refusal({ blocks: Array.from({ length: 5 }, () => section('x'.repeat(3_000))) })).toBe(
      'msg_blocks_too_long',
    );
    expect(
      await call(slack, 'chat.postMessage', { channel: general, blocks: [section('x'.repeat(3_001))] }),
    ).toEqual({
      ok: false,
      error: 'invalid_blocks',
      errors: ['must be less than 3001 characters [json-pointer:/blocks/0/text/text]'],
      response_metadata: {
        messages: ['[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]'],
      },
    });
    expect(slack.workspace.messagesIn(general)).toEqual([]);
  });

  test('reply only to a thread that is there', async () => {
    const slack = await slackForTest();
    const root = await postText(slack);
    const reply = await postText(slack, { thread_ts: root.ts });
    expect(slack.workspace.messagesIn(general, root.ts).map(({ ts }) => ts)).toEqual([root.ts, reply.ts]);
    const refusal = (thread_ts: string) =>
      errorOf(slack, 'chat.postMessage', { channel: general, text: 'hi', thread_ts });
    expect(await refusal('soon')).toBe('invalid_thread_ts');
    expect(await refusal('1700000000.000001')).toBe('thread_not_found');
    expect(await refusal(reply.ts)).toBe('cannot_reply_to_message');
  });

  test('to a person go to their direct messages', async () => {
    const slack = await slackForTest();
    const { channel } = await postText(slack, { channel: CAST.alice });
    expect(channel).toMatch(/^D/);
    expect(slack.workspace.messagesIn(slack.workspace.directMessages(CAST.alice))).toHaveLength(1);
  });

  test('keep their blocks when only the text is updated, and every earlier content', async () => {
    const slack = await slackForTest();
    const metadata = { event_type: 'card', event_payload: { id: '1' } };
    const { ts } = await postText(slack, { text: 'one', blocks: [buttonBlock('go')], metadata });
    await call(slack, 'chat.update', { channel: general, ts, text: 'two' });
    await call(slack, 'chat.update', { channel: general, ts, text: 'three', blocks: [] });
    const [message] = slack.workspace.messagesIn(general);
    expect(message).toMatchObject({ text: 'three', blocks: [], metadata });
    expect(message?.history).toMatchObject([
      { text: 'one', blocks: [{ type: 'actions' }] },
      { text: 'two', blocks: [{ type: 'actions' }] },
    ]);
  });

  test('lose their metadata when it is updated to nothing', async () => {
    const slack = await slackForTest();
    const { ts } = await postText(slack, { metadata: { event_type: 'card', event_payload: {} } });
    await call(slack, 'chat.update', { channel: general, ts, text: 'new', metadata: {} });
    expect(slack.workspace.messagesIn(general)[0]).not.toHaveProperty('metadata');
    const broken = { channel: general, ts, text: 'new', metadata: { event_type: 'card' } };
    expect(await errorOf(slack, 'chat.update', broken)).toBe('invalid_metadata_format');
  });

  test('have attachments within limits, and with blocks that hold', async () => {
    const slack = await slackForTest();
    const refusal = (attachments: unknown) =>
      errorOf(slack, 'chat.postMessage', { channel: general, attachments });
    expect(await refusal([{ text: 'fine', blocks: [section('fine')] }])).toBeUndefined();
    expect(await refusal([{ blocks: [section('')] }])).toBe('invalid_attachments');
    const many = Array.from({ length: LIMITS.messageAttachments + 1 }, () => ({ text: 'one' }));
    expect(await refusal(many)).toBe('too_many_attachments');
  });

  test('of others, gone, or in archives cannot be changed', async () => {
    const slack = await slackForTest();
    const mine = await postText(slack);
    const theirs = slack.workspace.as(CAST.alice).send(general, 'mine');
    const update = (ts: string, text = 'new') =>
      errorOf(slack, 'chat.update', { channel: general, ts, text });
    expect(await update(theirs.ts)).toBe('cant_update_message');
    expect(await errorOf(slack, 'chat.delete', { channel: general, ts: theirs.ts })).toBe(
      'cant_delete_message',
    );
    expect(await update('1700000000.000001')).toBe('message_not_found');
    expect(await update(mine.ts, 'x'.repeat(LIMITS.updateText + 1))).toBe('msg_too_long');
    expect(await errorOf(slack, 'chat.update', { channel: general, ts: mine.ts })).toBe('no_text');
    expect(await call(slack, 'chat.delete', mine)).toMatchObject({ ok: true });
    expect(await update(mine.ts)).toBe('message_not_found');
    const kept = await postText(slack);
    const channel = slack.workspace.state.channels.get(general);
    if (channel !== undefined) channel.is_archived = true;
    expect(await update(kept.ts)).toBe('is_inactive');
  });

  test('have unique, increasing timestamps, however fast they are posted', async () => {
    const slack = await slackForTest();
    const alice = slack.workspace.as(CAST.alice);
    const stamps = Array.from({ length: 200 }, () => alice.send(general, 'again').ts);
    expect(new Set(stamps).size).toBe(200);
    expect(stamps).toEqual([...stamps].sort());
    expect(stamps[0]).toMatch(/^\d{10}\.\d{6}$/);
  });

  test('for one person are not shown in a thread without replies', async () => {
    const slack = await slackForTest();
    const root = slack.workspace.as(CAST.alice).send(general, 'root');
    const given = { channel: general, thread_ts: root.ts, user: CAST.alice, text: 'psst' };
    expect(await call(slack, 'chat.postEphemeral', given)).toMatchObject({ ok: true });
    expect(slack.workspace.ephemeralsFor(CAST.alice)).toEqual([]);
    slack.workspace.as(CAST.bruno).send(general, 'reply', { threadTs: root.ts });
    expect(slack.workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'psst', thread_ts: root.ts }]);
  });

  test('for one person are seen by that person only, and only in a channel they are in', async () => {
    const slack = await slackForTest();
    expect(
      await call(slack, 'chat.postEphemeral', { channel: general, user: CAST.alice, text: 'psst' }),
    ).toMatchObject({ ok: true });
    expect(slack.workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'psst' }]);
    expect(slack.workspace.ephemeralsFor(CAST.bruno)).toEqual([]);
    expect(slack.workspace.messagesIn(general)).toEqual([]);
    const refused = await errorOf(slack, 'chat.postEphemeral', {
      channel: general,
      user: CAST.outsider,
      text: 'psst',
    });
    expect(refused).toBe('user_not_in_channel');
  });

  test('have a link', async () => {
    const slack = await slackForTest();
    const { ts } = await postText(slack);
    const { permalink } = await call(slack, 'chat.getPermalink', { channel: general, message_ts: ts });
    expect(permalink).toBe(`https://corner-shop.slack.com/archives/${general}/p${ts.replace('.', '')}`);
  });
});
