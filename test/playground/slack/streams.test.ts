import { WebClient } from '@slack/web-api';
import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { call, connected, errorOf, events, postText, section, slackForTest } from './support.ts';

const { general } = CHANNELS;
const recipient = { recipient_user_id: CAST.alice, recipient_team_id: 'T0LOCAL001' };

/** Starts a stream below a new message of Alice and returns its location. */
async function startStream(slack: LocalSlack, given: JsonObject = {}) {
  const root = slack.workspace.as(CAST.alice).send(general, 'tell me');
  const started = await call(slack, 'chat.startStream', {
    channel: general,
    thread_ts: root.ts,
    ...recipient,
    ...given,
  });
  return { channel: general, ts: String(started.ts), threadTs: root.ts };
}

const shown = (slack: LocalSlack, stream: { channel: string; ts: string }) =>
  slack.workspace.state.findMessage(stream.channel, stream.ts);

describe('a streamed message', () => {
  test('grows with every append and is finished with blocks and metadata', async () => {
    const slack = await slackForTest();
    const { channel, ts, threadTs } = await startStream(slack, { markdown_text: '**Hel' });
    expect(shown(slack, { channel, ts })).toMatchObject({ text: '**Hel', thread_ts: threadTs });
    expect(await call(slack, 'chat.appendStream', { channel, ts, markdown_text: 'lo**' })).toEqual({
      ok: true,
      channel,
      ts,
    });
    const metadata = { event_type: 'reply', event_payload: { id: '7' } };
    const stopped = await call(slack, 'chat.stopStream', {
      channel,
      ts,
      blocks: [section('done')],
      metadata,
    });
    expect(stopped).toMatchObject({
      ok: true,
      message: {
        text: '**Hello**',
        streaming_state: 'completed',
        blocks: [{ type: 'markdown', text: '**Hello**' }, { type: 'section' }],
        metadata,
      },
    });
    expect(shown(slack, { channel, ts })).toMatchObject({ text: '**Hello**', metadata, history: [] });
  });

  test('sends one event at its start and one at its end', async () => {
    const { slack, workspace, client } = await connected({ app: { events: ['message.channels'] } });
    const { channel, ts } = await startStream(slack, { markdown_text: 'one' });
    await call(slack, 'chat.appendStream', { channel, ts, markdown_text: ' two' });
    await call(slack, 'chat.stopStream', { channel, ts });
    workspace.as(CAST.alice).send(general, 'last');
    await workspace.until(() => events(client).some(({ text }) => text === 'last'));
    expect(events(client).slice(1, 3)).toMatchObject([
      { ts, text: 'one', streaming_state: 'in_progress' },
      { subtype: 'message_changed', message: { ts, text: 'one two' }, previous_message: { ts } },
    ]);
    expect(events(client)).toHaveLength(4);
  });

  test('shows tasks, which are updated by id and whose details grow', async () => {
    const slack = await slackForTest();
    const task = { type: 'task_update', id: 'one', title: 'Look', status: 'in_progress', details: 'a' };
    const { channel, ts } = await startStream(slack, { chunks: [task] });
    const chunks = [
      { ...task, status: 'complete', details: 'b', output: 'found' },
      { type: 'markdown_text', text: 'so' },
    ];
    await call(slack, 'chat.appendStream', { channel, ts, chunks });
    expect(shown(slack, { channel, ts })?.blocks).toMatchObject([
      {
        type: 'task_card',
        task_id: 'one',
        status: 'complete',
        details: richText('ab'),
        output: richText('found'),
      },
      { type: 'markdown', text: 'so' },
    ]);
  });

  test('gathers tasks in a plan when it is asked to', async () => {
    const slack = await slackForTest();
    const chunks = [
      { type: 'plan_update', title: 'The plan' },
      { type: 'task_update', id: 'one', title: 'Look', status: 'pending' },
    ];
    const { channel, ts } = await startStream(slack, { chunks, task_display_mode: 'plan' });
    expect(shown(slack, { channel, ts })?.blocks).toMatchObject([
      { type: 'plan', title: 'The plan', tasks: [{ type: 'task_card', title: 'Look' }] },
    ]);
  });

  test('cannot be updated or deleted before it is finished', async () => {
    const slack = await slackForTest();
    const { channel, ts } = await startStream(slack, { markdown_text: 'one' });
    expect(await errorOf(slack, 'chat.update', { channel, ts, text: 'two' })).toBe(
      'streaming_state_conflict',
    );
    expect(await errorOf(slack, 'chat.delete', { channel, ts })).toBe('cant_delete_message');
    await call(slack, 'chat.stopStream', { channel, ts });
    expect(await errorOf(slack, 'chat.update', { channel, ts, text: 'two' })).toBeUndefined();
    expect(await errorOf(slack, 'chat.delete', { channel, ts })).toBeUndefined();
  });

  test('takes nothing more once it is finished, and a posted message takes nothing at all', async () => {
    const slack = await slackForTest();
    const { channel, ts } = await startStream(slack);
    await call(slack, 'chat.stopStream', { channel, ts });
    const refusal = (method: string, at: string) =>
      errorOf(slack, method, { channel, ts: at, markdown_text: 'more' });
    expect(await refusal('chat.appendStream', ts)).toBe('message_not_in_streaming_state');
    expect(await refusal('chat.stopStream', ts)).toBe('message_not_in_streaming_state');
    const posted = await postText(slack);
    expect(await refusal('chat.appendStream', posted.ts)).toBe('message_not_in_streaming_state');
    expect(await refusal('chat.appendStream', '1700000000.000001')).toBe('message_not_found');
  });

  test('expires, however active it is, and can then be updated', async () => {
    const slack = await slackForTest({ timings: { streamLife: 0 } });
    const { channel, ts } = await startStream(slack, { markdown_text: 'one' });
    expect(await errorOf(slack, 'chat.appendStream', { channel, ts, markdown_text: 'two' })).toBe(
      'message_not_in_streaming_state',
    );
    expect(await errorOf(slack, 'chat.stopStream', { channel, ts })).toBe('message_not_in_streaming_state');
    expect(await errorOf(slack, 'chat.update', { channel, ts, text: 'whole' })).toBeUndefined();
  });

  test('accepts only text or only chunks, depending on the first', async () => {
    const slack = await slackForTest();
    const chunks = [{ type: 'markdown_text', text: 'two' }];
    const text = await startStream(slack, { markdown_text: 'one' });
    const append = (ts: string, given: JsonObject) =>
      errorOf(slack, 'chat.appendStream', { channel: general, ts, ...given });
    expect(await append(text.ts, { chunks })).toBe('streaming_mode_mismatch');
    const chunked = await startStream(slack, { chunks });
    expect(await append(chunked.ts, { markdown_text: 'three' })).toBe('streaming_mode_mismatch');
    expect(await append(chunked.ts, { chunks, markdown_text: 'three' })).toBe('markdown_text_conflict');
    expect(shown(slack, chunked)?.text).toBe('two');
  });

  test('is refused with content that is too long, malformed or empty', async () => {
    const slack = await slackForTest();
    const { channel, ts } = await startStream(slack);
    const append = (given: JsonObject) => errorOf(slack, 'chat.appendStream', { channel, ts, ...given });
    const long = 'x'.repeat(LIMITS.markdown + 1);
    expect(await append({})).toBe('no_text');
    expect(await append({ chunks: [] })).toBe('no_text');
    expect(await append({ markdown_text: long })).toBe('msg_too_long');
    expect(await append({ chunks: [{ type: 'markdown_text', text: long }] })).toBe('msg_too_long');
    expect(await append({ chunks: [{ type: 'sound' }] })).toBe('invalid_chunks');
    expect(await append({ chunks: '{' })).toBe('invalid_chunks');
    const title = 'x'.repeat(LIMITS.taskTitle + 1);
    expect(await append({ chunks: [{ type: 'plan_update', title }] })).toBe('invalid_chunks');
    expect(await append({ chunks: [{ type: 'blocks', blocks: [section('')] }] })).toBe('invalid_blocks');
    const stop = (given: JsonObject) => errorOf(slack, 'chat.stopStream', { channel, ts, ...given });
    expect(await stop({ blocks: [section('')] })).toBe('invalid_blocks');
    expect(await stop({ session_status: 'happy' })).toBe('invalid_status');
    expect(shown(slack, { channel, ts })?.text).toBe('');
  });

  test('starts only in a thread, and in a channel only with a recipient', async () => {
    const slack = await slackForTest();
    const root = slack.workspace.as(CAST.alice).send(general, 'tell me');
    const start = (given: JsonObject) =>
      errorOf(slack, 'chat.startStream', { channel: general, thread_ts: root.ts, ...given });
    expect(await start({ recipient_user_id: CAST.alice })).toBe('missing_recipient_team_id');
    expect(await start({ recipient_team_id: 'T0LOCAL001' })).toBe('missing_recipient_user_id');
    expect(await start({ ...recipient, recipient_user_id: 'U0NOBODY01' })).toBe('user_not_found');
    expect(await start({ ...recipient, thread_ts: '' })).toBe('invalid_arguments');
    expect(await start({ ...recipient, thread_ts: '1700000000.000001' })).toBe('thread_not_found');
    expect(await start({ ...recipient, channel: CHANNELS.archived })).toBe('is_archived');
    expect(await start({ ...recipient, username: 'Somebody' })).toBe('missing_scope');
    const direct = slack.workspace.as(CAST.alice).send(slack.workspace.directMessages(CAST.alice), 'hi');
    expect(await start({ channel: direct.channel, thread_ts: direct.ts })).toBeUndefined();
  });

  test("works with the streaming helper of Slack's own client", async () => {
    const slack = await slackForTest();
    const root = slack.workspace.as(CAST.alice).send(general, 'tell me');
    const client = new WebClient(slack.botToken, { slackApiUrl: slack.apiUrl });
    const streamer = client.chatStream({
      channel: general,
      thread_ts: root.ts,
      ...recipient,
      buffer_size: 4,
    });
    await streamer.append({ markdown_text: 'one two' });
    await streamer.append({ markdown_text: ' three' });
    await streamer.append({ markdown_text: '.' });
    await streamer.stop({ session_status: 'suspended' });
    expect(slack.workspace.messagesIn(general, root.ts).at(-1)?.text).toBe('one two three.');
    expect(slack.workspace.sessionOf(general, root.ts)).toMatchObject({ status: 'suspended' });
    expect(slack.workspace.calls.map(({ method }) => method)).toEqual([
      'chat.startStream',
      'chat.appendStream',
      'chat.stopStream',
    ]);
  });
});

function richText(text: string): JsonObject {
  return { type: 'rich_text', elements: [{ elements: [{ type: 'text', text }] }] };
}
