import { expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { Forgery } from '../../../playground/slack/http/request-url.ts';
import { signRequest } from '../../../playground/slack/http/sign-request.ts';
import type { Timings } from '../../../playground/slack/limits.ts';
import type { Once } from '../../../src/bot/slack/http-receiver.ts';
import {
  connectionFor,
  httpSettings,
  onceIn,
  postButton,
  redisForTest,
  serverForTest,
  slackForTest,
} from './support.ts';

/** A workspace that posts to the bot's server; `heard` is what reached a listener. */
async function overHttp(once: Once = onceIn(redisForTest()), timings: Partial<Timings> = {}) {
  const slack = await slackForTest({ app: { socketMode: false, commands: ['/ask'] }, timings });
  const connection = connectionFor(httpSettings(slack), once);
  const heard: string[] = [];
  connection.app.event('message', async ({ event }) => {
    heard.push('text' in event ? (event.text ?? '') : '');
  });
  connection.app.action('approve', async ({ ack }) => {
    heard.push('click');
    await ack();
  });
  connection.app.command('/ask', async ({ ack, command }) => {
    heard.push(command.text);
    await ack('working on it');
  });
  const { url } = await serverForTest({
    parts: connection.part === undefined ? [] : [connection.part],
    isConnected: connection.isReady,
  });
  const address = `${url}/slack/events`;
  await connection.start();
  await slack.workspace.changeRequestUrl(address);
  return { slack, workspace: slack.workspace, connection, heard, address };
}

const EVENT = {
  type: 'event_callback',
  team_id: 'T0LOCAL001',
  event_id: 'Ev1',
  event: { type: 'message', channel: CHANNELS.general, user: CAST.alice, text: 'forged', ts: '1.1' },
} as const;

test('what people do reaches the listeners, signed, and their answers reach people', async () => {
  const { workspace, connection, heard } = await overHttp();
  const card = await postButton(connection);
  workspace.as(CAST.alice).send(CHANNELS.general, 'häh?');
  await workspace.until(() => heard.includes('häh?'));
  expect(await workspace.as(CAST.alice).click(card, 'approve')).toMatchObject({ kind: 'acknowledged' });
  await workspace.as(CAST.alice).command('/ask', 'now & then');
  expect(heard).toEqual(expect.arrayContaining(['häh?', 'click', 'now & then']));
  expect(workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'working on it' }]);
  expect(workspace.deliveries.every(({ attempts }) => attempts.length === 1)).toBe(true);
});

const forgeries: [Forgery, RegExp][] = [
  ['unsigned', /not signed/],
  ['wrong-secret', /signature of the request is wrong/],
  ['tampered', /signature of the request is wrong/],
  ['stale', /more than five minutes/],
  ['future', /more than five minutes/],
];
test.each(forgeries)('a request that is %s is refused, and no listener runs', async (forgery, words) => {
  const { workspace, heard } = await overHttp();
  const { status, body } = await workspace.sendForged(forgery, { type: 'events_api', payload: { ...EVENT } });
  expect(status).toBe(401);
  expect(JSON.parse(body)).toEqual({ ok: false, error: expect.stringMatching(words) });
  expect(heard).toEqual([]);
});

test('a request is taken once, also by another process', async () => {
  const redis = redisForTest();
  const { workspace, heard, slack } = await overHttp(onceIn(redis));
  workspace.as(CAST.alice).send(CHANNELS.general, 'once');
  await workspace.until(() => heard.length > 0);
  const [delivery] = workspace.deliveries;
  if (delivery === undefined) throw new Error('nothing was delivered');
  expect(await workspace.replay(delivery)).toMatchObject({ status: 401 });

  const other = connectionFor(httpSettings(slack), onceIn(redis));
  other.app.event('message', async () => {
    heard.push('by the other');
  });
  const { url } = await serverForTest({ parts: other.part === undefined ? [] : [other.part] });
  await other.start();
  const request = delivery.attempts[0]?.request;
  const replayed = await fetch(`${url}/slack/events`, {
    method: 'POST',
    headers: request?.headers ?? {},
    body: request?.body ?? '',
  });
  expect(replayed.status).toBe(401);
  expect(heard).toEqual(['once']);
});

test('when it cannot be known whether a request was taken before, no listener runs', async () => {
  let isAway = false;
  const { workspace, heard, connection } = await overHttp(async () => {
    if (isAway) throw new Error('Redis is away');
    return true;
  });
  const card = await postButton(connection);
  isAway = true;
  expect(await workspace.as(CAST.alice).click(card, 'approve')).toEqual({
    kind: 'failed',
    reason: 'http_error',
  });
  expect(heard).toEqual([]);
});

test('a look at the certificate is answered, and what else it carries is not read', async () => {
  const { workspace, heard, address } = await overHttp();
  expect(await workspace.sendSslCheck()).toMatchObject({ status: 200 });
  const smuggled = new URLSearchParams({ ssl_check: '1', payload: JSON.stringify(EVENT), command: '/ask' });
  expect((await fetch(address, { method: 'POST', body: smuggled })).status).toBe(200);
  expect((await fetch(`${address}?ssl_check=1`)).status).toBe(200);
  expect((await fetch(address)).status).toBe(405);
  expect(heard).toEqual([]);
});

test('the challenge is returned only to who signs it', async () => {
  const { slack, address } = await overHttp();
  const headers = { 'content-type': 'application/json' };
  const request = {
    url: address,
    headers,
    body: JSON.stringify({ type: 'url_verification', challenge: 'abc' }),
  };
  const unsigned = await fetch(address, { method: 'POST', ...request });
  expect(unsigned.status).toBe(401);
  const signed = await fetch(address, { method: 'POST', ...signRequest(request, slack.signingSecret) });
  expect(await signed.json()).toEqual({ challenge: 'abc' });
});

test('a signed body that is nothing of Slack’s is refused', async () => {
  const { slack, address } = await overHttp();
  const request = { url: address, headers: { 'content-type': 'application/json' }, body: '[1]' };
  const answer = await fetch(address, { method: 'POST', ...signRequest(request, slack.signingSecret) });
  expect(answer.status).toBe(400);
});

test('a click whose listener fails is answered with an error', async () => {
  const { workspace, connection } = await overHttp();
  connection.app.action('broken', async () => {
    throw new Error('Redis is away');
  });
  const card = await postButton(connection);
  const end = await workspace.as(CAST.alice).click(card, 'broken', { force: true });
  expect(end).toEqual({ kind: 'failed', reason: 'http_error' });
});

test('an event whose listener fails is answered with an error, and comes again', async () => {
  // Mostly within the same second, and so with the same signature.
  const { workspace, connection } = await overHttp(undefined, { eventRetries: [10] });
  const heard: string[] = [];
  connection.app.event('app_mention', async ({ event }) => {
    heard.push(event.ts);
    if (heard.length === 1) throw new Error('Redis is away');
  });
  const { ts } = workspace
    .as(CAST.requester)
    .send(CHANNELS.general, `<@${workspace.state.app.botUserId}> hello`);
  const mention = await workspace.until(({ deliveries }) =>
    deliveries.find(
      ({ payload, outcome }) =>
        JSON.stringify(payload).includes('"app_mention"') && outcome.kind !== 'pending',
    ),
  );
  expect(mention.attempts.map(({ status }) => status)).toEqual([500, 200]);
  expect(heard).toEqual([ts, ts]);
});

test('after the stop nothing is taken', async () => {
  const { workspace, connection, heard } = await overHttp();
  const card = await postButton(connection);
  expect(connection.isReady()).toBe(true);
  await connection.stop();
  expect(connection.isReady()).toBe(false);
  expect(await workspace.as(CAST.alice).click(card, 'approve')).toMatchObject({ kind: 'failed' });
  expect(heard).toEqual([]);
});
