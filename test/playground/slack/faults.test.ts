import { describe, expect, test } from 'vitest';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { RateLimiter } from '../../../playground/slack/web-api/rate-limiter.ts';
import { call, errorOf, postText, slackForTest } from './support.ts';

const { general, releases } = CHANNELS;

describe('on demand', () => {
  test('Slack fails, and the call has no effect', async () => {
    const slack = await slackForTest();
    slack.workspace.fail('chat.postMessage', { kind: 'status', status: 503 });
    const post = () =>
      fetch(`${slack.apiUrl}chat.postMessage`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.botToken}` },
        body: JSON.stringify({ channel: general, text: 'hi' }),
      });
    expect((await post()).status).toBe(503);
    expect(slack.workspace.messagesIn(general)).toEqual([]);
    expect((await post()).status).toBe(200);
    expect(slack.workspace.calls.map(({ status }) => status)).toEqual([503, 200]);
  });

  test('the answer to a message that was posted is lost', async () => {
    const slack = await slackForTest();
    slack.workspace.fail('chat.postMessage', { kind: 'lost-answer' });
    await expect(postText(slack)).rejects.toThrow('fetch failed');
    expect(slack.workspace.messagesIn(general)).toMatchObject([{ text: 'hello' }]);
    expect(slack.workspace.calls).toMatchObject([{ isLost: true, response: { ok: true } }]);
  });

  test('a connection is reset before the call has an effect', async () => {
    const slack = await slackForTest();
    slack.workspace.fail('chat.postMessage', { kind: 'reset' });
    await expect(postText(slack)).rejects.toThrow('fetch failed');
    expect(slack.workspace.messagesIn(general)).toEqual([]);
    expect(slack.workspace.calls).toMatchObject([{ isLost: true, response: {} }]);
  });

  test.each(['message_not_found', 'channel_not_found', 'is_archived'])('%s is the answer', async (error) => {
    const slack = await slackForTest();
    const { ts } = await postText(slack);
    slack.workspace.fail('chat.update', { kind: 'refuse', error }, { calls: 2 });
    const update = () => errorOf(slack, 'chat.update', { channel: general, ts, text: 'new' });
    expect([await update(), await update(), await update()]).toEqual([error, error, undefined]);
  });

  test('only the calls that fit go wrong, of one method or of any', async () => {
    const slack = await slackForTest();
    const { workspace } = slack;
    const inReleases = { when: ({ channel }: JsonObject) => channel === releases };
    workspace.fail('*', { kind: 'refuse', error: 'fatal_error' }, inReleases);
    expect(await errorOf(slack, 'chat.postMessage', { channel: general, text: 'hi' })).toBeUndefined();
    expect(await errorOf(slack, 'conversations.info', { channel: releases })).toBe('fatal_error');
    workspace.fail('usergroups.users.list', { kind: 'refuse', error: 'plan_upgrade_required' });
    expect(await errorOf(slack, 'usergroups.users.list', { usergroup: APPROVERS_GROUP })).toBe(
      'plan_upgrade_required',
    );
  });

  test('an answer is delayed although the message is posted', async () => {
    const slack = await slackForTest();
    slack.workspace.fail('chat.postMessage', { kind: 'slow', milliseconds: 60_000 });
    let isAnswered = false;
    const posting = postText(slack).finally(() => {
      isAnswered = true;
    });
    await slack.workspace.until(() => slack.workspace.messagesIn(general)[0]?.text === 'hello');
    for (let count = 0; count < 5; count += 1) await call(slack, 'auth.test');
    expect(isAnswered).toBe(false);
    await slack.stop();
    await expect(posting).rejects.toThrow('fetch failed');
  });

  test('the token is revoked', async () => {
    const slack = await slackForTest();
    slack.workspace.revokeToken();
    expect(await errorOf(slack, 'auth.test')).toBe('token_revoked');
    expect(await call(slack, 'apps.connections.open', {}, slack.appToken)).toMatchObject({ ok: true });
  });
});

describe("Slack's rate limits", () => {
  test('are off unless asked for', async () => {
    const slack = await slackForTest();
    await postText(slack);
    await postText(slack);
    expect(slack.workspace.calls.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('allow one message a second in each channel', () => {
    let now = 0;
    const limiter = new RateLimiter(() => now);
    expect(limiter.admit('chat.postMessage', general)).toBeUndefined();
    expect(limiter.admit('chat.postMessage', general)).toBe(1);
    expect(limiter.admit('chat.postMessage', releases)).toBeUndefined();
    now = 1_000;
    expect(limiter.admit('chat.postMessage', general)).toBeUndefined();
  });

  test('allow each method the calls of its tier in a minute', () => {
    let now = 0;
    const limiter = new RateLimiter(() => now);
    const admitted = (method: string) => {
      let count = 0;
      while (count < 1_000 && limiter.admit(method, general) === undefined) count += 1;
      return count;
    };
    expect(
      ['chat.startStream', 'chat.update', 'chat.appendStream', 'assistant.threads.setStatus'].map(admitted),
    ).toEqual([20, 50, 100, 600]);
    now = 45_000;
    expect(limiter.admit('chat.update', general)).toBe(15);
    now = 60_000;
    expect(admitted('chat.update')).toBe(50);
  });

  test('return the seconds to wait', async () => {
    const slack = await slackForTest({ rateLimits: 'slack' });
    const list = () =>
      fetch(`${slack.apiUrl}users.list`, { headers: { authorization: `Bearer ${slack.botToken}` } });
    const answers: Response[] = [];
    for (let count = 0; count < 21; count += 1) answers.push(await list());
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    expect(Number(answers[20]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await call(slack, 'users.info', { user: CAST.alice })).toMatchObject({ ok: true });
  });
});
