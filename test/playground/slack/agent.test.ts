import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { call, connected, errorOf, events, slackForTest } from './support.ts';

const { general, withoutBot } = CHANNELS;
const recipient = { recipient_user_id: CAST.alice, recipient_team_id: 'T0LOCAL001' };

describe('a session', () => {
  test('is made by its first status, keeps its title and goes through its statuses', async () => {
    const slack = await slackForTest();
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const set = (given: JsonObject) =>
      call(slack, 'agents.sessions.setStatus', { channel_id: general, thread_ts: ts, ...given });
    expect(await set({ status: 'processing', title: 'A deploy', initiator_user_id: CAST.alice })).toEqual({
      ok: true,
      status: 'processing',
      agent_status: 'processing',
      title: 'A deploy',
    });
    expect(await set({ status: 'suspended', title: 'Another' })).toMatchObject({ title: 'A deploy' });
    expect(slack.workspace.sessionOf(general, ts)).toMatchObject({
      status: 'suspended',
      initiator: CAST.alice,
    });
    const renamed = { channel_id: general, thread_ts: ts, title: 'Shipped' };
    expect(await call(slack, 'agents.sessions.rename', renamed)).toEqual({ ok: true, title: 'Shipped' });
    expect(slack.workspace.sessionOf(general, ts)?.title).toBe('Shipped');
  });

  test('is refused where there can be none', async () => {
    const slack = await slackForTest();
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const refusal = (given: JsonObject) =>
      errorOf(slack, 'agents.sessions.setStatus', {
        channel_id: general,
        thread_ts: ts,
        status: 'active',
        ...given,
      });
    expect(await refusal({ status: 'happy' })).toBe('invalid_status');
    expect(await refusal({ thread_ts: '' })).toBe('thread_ts_required');
    expect(await refusal({ thread_ts: '1700000000.000001' })).toBe('thread_not_found');
    expect(await refusal({ channel_id: 'C0NOWHERE1' })).toBe('channel_not_found');
    expect(await refusal({ channel_id: withoutBot })).toBe('not_authorized');
    expect(await refusal({ initiator_user_id: CAST.outsider })).toBe('user_not_found');
    expect(await refusal({ title: 'x'.repeat(LIMITS.sessionTitle + 1) })).toBe('invalid_arguments');
    expect(await refusal({ username: 'Somebody' })).toBe('missing_scope');
    const rename = { channel_id: general, thread_ts: ts, title: 'new' };
    expect(await errorOf(slack, 'agents.sessions.rename', rename)).toBe('session_not_found');
  });

  test('is not for an app that is no agent', async () => {
    const slack = await slackForTest({ app: { agent: 'none' } });
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const given = { channel_id: general, thread_ts: ts, status: 'active' };
    expect(await errorOf(slack, 'agents.sessions.setStatus', given)).toBe('not_authorized');
  });

  test('warns an app without a subscription to Stop', async () => {
    const slack = await slackForTest({ app: { events: ['app_mention'] } });
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const given = { channel_id: general, thread_ts: ts, status: 'processing' };
    expect(await call(slack, 'agents.sessions.setStatus', given)).toMatchObject({
      ok: true,
      warning: 'missing_agent_session_stopped_event_subscription',
    });
    expect(() => slack.workspace.as(CAST.alice).stop({ channel: general, threadTs: ts })).toThrow(
      'not subscribed to agent_session_stopped',
    );
  });

  test('does not stay in processing forever', async () => {
    const slack = await slackForTest({ timings: { sessionProcessing: -1 } });
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    await call(slack, 'agents.sessions.setStatus', {
      channel_id: general,
      thread_ts: ts,
      status: 'processing',
    });
    expect(slack.workspace.sessionOf(general, ts)?.status).toBe('active');
  });

  test('follows streams and the older status line', async () => {
    const slack = await slackForTest();
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const status = () => slack.workspace.sessionOf(general, ts)?.status;
    const line = { channel_id: general, thread_ts: ts };
    await call(slack, 'assistant.threads.setStatus', { ...line, status: 'is thinking...' });
    expect(status()).toBe('processing');
    await call(slack, 'assistant.threads.setStatus', { ...line, status: '' });
    expect(status()).toBe('active');
    await call(slack, 'assistant.threads.setStatus', { ...line, status: 'is thinking...' });
    await call(slack, 'chat.postMessage', { channel: general, thread_ts: ts, text: 'Deployed.' });
    expect(status()).toBe('active');
    const started = await call(slack, 'chat.startStream', { channel: general, thread_ts: ts, ...recipient });
    expect(status()).toBe('processing');
    await call(slack, 'chat.stopStream', { channel: general, ts: started.ts });
    expect(status()).toBe('active');
  });
});

describe('Stop', () => {
  test('ends the streams of the thread, notifies the app, and leaves the status to it', async () => {
    const { slack, workspace, client } = await connected({ app: { events: ['agent_session_stopped'] } });
    const { ts } = workspace.as(CAST.alice).send(general, 'deploy');
    const started = await call(slack, 'chat.startStream', { channel: general, thread_ts: ts, ...recipient });
    workspace.as(CAST.alice).stop({ channel: general, threadTs: ts });
    await workspace.until(() => client.envelopes.length === 1);
    expect(events(client)).toMatchObject([
      {
        type: 'agent_session_stopped',
        channel: general,
        user: CAST.alice,
        thread_ts: ts,
        streaming_message_ts: [started.ts],
      },
    ]);
    const more = { channel: general, ts: started.ts, markdown_text: 'more' };
    expect(await errorOf(slack, 'chat.appendStream', more)).toBe('message_not_in_streaming_state');
    expect(workspace.sessionOf(general, ts)?.status).toBe('processing');
  });

  test('is offered only while the session is worked on', async () => {
    const slack = await slackForTest();
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'deploy');
    const stop = () => slack.workspace.as(CAST.alice).stop({ channel: general, threadTs: ts });
    expect(stop).toThrow('not there');
    await call(slack, 'agents.sessions.setStatus', {
      channel_id: general,
      thread_ts: ts,
      status: 'suspended',
    });
    expect(stop).toThrow('the session is suspended');
  });
});
