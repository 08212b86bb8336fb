import type { BlockAction } from '@slack/bolt';
import { ConsoleLogger } from '@slack/logger';
import { expect, onTestFinished, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import type { Connection } from '../../../src/bot/slack/create-connection.ts';
import { SocketReceiver } from '../../../src/bot/slack/socket-receiver.ts';
import { connectionFor, logger, postButton, redisForTest, slackForTest, socketSettings } from './support.ts';

/** Has every click on record before it is acknowledged; gives the ids of those on record. */
function recordClicks({ app }: Connection): () => Promise<string[]> {
  const { client, prefix } = redisForTest();
  app.action<BlockAction>('approve', async ({ ack, action }) => {
    await client.sadd(`${prefix}clicks`, action.action_ts);
    await ack();
  });
  return () => client.smembers(`${prefix}clicks`);
}

/** The ids of the clicks that were sent, and how each ended for the person. */
function clicksIn({ workspace }: LocalSlack) {
  const clicks = workspace.deliveries.filter(({ type }) => type === 'interactive');
  return {
    ids: clicks.map(({ payload }) => JSON.stringify(payload).match(/"action_ts":"([\d.]+)"/)?.[1]),
    ends: new Set(clicks.map(({ outcome }) => (outcome.kind === 'failed' ? outcome.reason : outcome.kind))),
    sockets: new Set(clicks.map(({ attempts }) => attempts[0]?.connectionId)),
  };
}

test('two sockets are open after the start, and none after the stop', async () => {
  const slack = await slackForTest();
  const connection = connectionFor(socketSettings(slack));
  expect(connection.isReady()).toBe(false);
  await connection.start();
  expect(slack.workspace.socketConnections).toBe(2);
  expect(connection.isReady()).toBe(true);
  await connection.stop();
  await slack.workspace.until(({ socketConnections }) => socketConnections === 0);
  expect(connection.isReady()).toBe(false);
});

/** Clicks 200 times, and has Slack refresh one socket in the middle. */
async function clickThroughRefresh({ workspace }: LocalSlack, card: { channel: string; ts: string }) {
  const clicks = Array.from({ length: 200 }, (_, index) => {
    if (index === 100) workspace.disconnectSockets('refresh_requested', 1);
    return workspace.as(CAST.alice).click(card, 'approve');
  });
  await Promise.all(clicks);
}

test('a refresh of one socket in the middle of 200 clicks loses none', async () => {
  const slack = await slackForTest();
  const connection = connectionFor(socketSettings(slack));
  const recorded = recordClicks(connection);
  await connection.start();
  const card = await postButton(connection);
  await clickThroughRefresh(slack, card);
  // The new socket takes clicks once it is open, and the old one does until it closes.
  while (clicksIn(slack).sockets.size < 3) await slack.workspace.as(CAST.bruno).click(card, 'approve');

  const { ids, ends, sockets } = clicksIn(slack);
  expect(sockets.size).toBe(3);
  expect(ends).toEqual(new Set(['acknowledged']));
  expect((await recorded()).sort()).toEqual(ids.sort());
});

test('a socket that Slack closes at once takes acknowledgements with it, but no click', async () => {
  const slack = await slackForTest({ timings: { socketDrain: 0, acknowledgement: 1_000 } });
  const connection = connectionFor(socketSettings(slack));
  const recorded = recordClicks(connection);
  await connection.start();
  await clickThroughRefresh(slack, await postButton(connection));
  expect((await recorded()).sort()).toEqual(clicksIn(slack).ids.sort());
});

/** A listener that is busy with a click until `finish` is called. */
function slowListener({ app }: Connection) {
  const listener = { arrived: Promise.resolve(), finish: () => {} };
  const recorded = new Promise<void>((resolve) => {
    listener.finish = resolve;
  });
  listener.arrived = new Promise((resolve) => {
    app.action('approve', async ({ ack }) => {
      resolve();
      await recorded;
      await ack();
    });
  });
  return listener;
}

test('a click that is still being recorded when its socket is refreshed is acknowledged', async () => {
  const slack = await slackForTest();
  const connection = connectionFor(socketSettings(slack));
  const listener = slowListener(connection);
  await connection.start();
  const card = await postButton(connection);
  const click = slack.workspace.as(CAST.alice).click(card, 'approve');
  await listener.arrived;
  slack.workspace.disconnectSockets('refresh_requested');
  await slack.workspace.until(({ socketConnections }) => socketConnections === 4);
  listener.finish();
  expect(await click).toMatchObject({ kind: 'acknowledged' });
});

test('a stop waits for the click that is being recorded, and acknowledges it', async () => {
  const slack = await slackForTest();
  const connection = connectionFor(socketSettings(slack));
  const listener = slowListener(connection);
  await connection.start();
  const card = await postButton(connection);
  const click = slack.workspace.as(CAST.alice).click(card, 'approve');
  await listener.arrived;
  const stopped = connection.stop();
  listener.finish();
  expect(await click).toMatchObject({ kind: 'acknowledged' });
  await stopped;
});

test('a click whose listener fails is not acknowledged', async () => {
  const slack = await slackForTest({ timings: { acknowledgement: 300 } });
  const connection = connectionFor(socketSettings(slack));
  connection.app.action('approve', async () => {
    throw new Error('Redis is away');
  });
  await connection.start();
  const card = await postButton(connection);
  const end = await slack.workspace.as(CAST.alice).click(card, 'approve');
  expect(end).toEqual({ kind: 'failed', reason: 'timeout' });
});

test('an event whose listener fails is not acknowledged, and comes again', async () => {
  const slack = await slackForTest({ timings: { acknowledgement: 1_000, eventRetries: [100] } });
  const connection = connectionFor(socketSettings(slack));
  const heard: string[] = [];
  connection.app.event('app_mention', async ({ event }) => {
    heard.push(event.ts);
    if (heard.length === 1) throw new Error('Redis is away');
  });
  await connection.start();
  const { botUserId } = slack.workspace.state.app;
  const { ts } = slack.workspace.as(CAST.requester).send(CHANNELS.general, `<@${botUserId}> hello`);
  await slack.workspace.until(({ deliveries }) =>
    deliveries.some(
      ({ payload, outcome }) =>
        JSON.stringify(payload).includes('"app_mention"') && outcome.kind === 'acknowledged',
    ),
  );
  expect(heard).toEqual([ts, ts]);
});

test('when only one socket can be opened the start fails, and that one is closed', async () => {
  const slack = await slackForTest();
  slack.workspace.fail('apps.connections.open', { kind: 'refuse', error: 'internal_error' });
  const connection = connectionFor(socketSettings(slack));
  await expect(connection.start()).rejects.toThrow(/did not open a socket: .*internal_error/);
  await slack.workspace.until(({ socketConnections }) => socketConnections === 0);
  expect(connection.isReady()).toBe(false);
});

test('sockets that are gone are opened again, also when Slack refuses at first', async () => {
  const slack = await slackForTest({ timings: { socketDrain: 0 } });
  const { workspace } = slack;
  const connection = connectionFor(socketSettings(slack));
  const recorded = recordClicks(connection);
  await connection.start();
  const card = await postButton(connection);
  workspace.fail('apps.connections.open', { kind: 'refuse', error: 'internal_error' }, { calls: 2 });
  workspace.disconnectSockets('refresh_requested');
  await workspace.until(({ socketConnections }) => socketConnections === 0);
  await workspace.until(({ socketConnections }) => socketConnections === 2);
  expect(await workspace.as(CAST.alice).click(card, 'approve')).toMatchObject({ kind: 'acknowledged' });
  expect(await recorded()).toHaveLength(1);
  expect(connection.isReady()).toBe(true);
});

test('a wrong token of the app is one error, and no socket stays open', async () => {
  const slack = await slackForTest();
  const connection = connectionFor({ ...socketSettings(slack), appToken: 'xapp-wrong' });
  await expect(connection.start()).rejects.toThrow(/did not open a socket: .*invalid_auth/);
  expect(slack.workspace.socketConnections).toBe(0);
  expect(connection.isReady()).toBe(false);
});

test('a wrong token of the bot is one error that says which setting to check, and opens nothing', async () => {
  const slack = await slackForTest();
  const connection = connectionFor({ ...socketSettings(slack), botToken: 'xoxb-wrong' });
  await expect(connection.start()).rejects.toThrow(/invalid_auth.*SLACK_BOT_TOKEN/);
  expect(slack.workspace.calls.map(({ method }) => method)).toEqual(['auth.test']);
});

test('a start waits for a Slack that cannot be reached for a moment', async () => {
  const slack = await slackForTest();
  slack.workspace.fail('auth.test', { kind: 'status', status: 503 });
  slack.workspace.fail('auth.test', { kind: 'reset' });
  slack.workspace.rateLimit('auth.test', { calls: 1, retryAfterSeconds: 1 });
  const connection = connectionFor(socketSettings(slack));
  await connection.start();
  expect(connection.isReady()).toBe(true);
});

test('a Slack that is away for too long is one error, which does not blame the token', async () => {
  const slack = await slackForTest();
  await slack.stop();
  const connection = connectionFor(socketSettings(slack), undefined, { patienceMs: 0 });
  const failed = await connection.start().catch(String);
  expect(failed).toMatch(/Slack cannot be reached: /);
  expect(failed).not.toContain('SLACK_BOT_TOKEN');
});

test('a call that Slack limits or fails is made once: trying again is left to the caller', async () => {
  const slack = await slackForTest();
  const { client } = connectionFor(socketSettings(slack)).app;
  const post = () => client.chat.postMessage({ channel: CHANNELS.general, text: 'hello' });
  slack.workspace.rateLimit('chat.postMessage', { calls: 1, retryAfterSeconds: 7 });
  await expect(post()).rejects.toMatchObject({ retryAfter: 7 });
  expect(slack.workspace.calls).toHaveLength(1);
  await slack.stop();
  await expect(post()).rejects.toThrow();
});

/** Starts a receiver whose sockets get no address before `answer` is called. */
async function receiverWithoutAddress(helloMs?: number) {
  const slack = await slackForTest();
  const { workspace, appToken, apiUrl } = slack;
  const held = { resolve: () => {} };
  const until = new Promise<void>((resolve) => {
    held.resolve = resolve;
  });
  onTestFinished(() => held.resolve());
  workspace.fail('apps.connections.open', { kind: 'held', until }, { calls: 2 });
  const options = {
    appToken,
    apiUrl,
    logger: new ConsoleLogger(),
    ...(helloMs !== undefined && { helloMs }),
  };
  const receiver = new SocketReceiver(options, logger);
  onTestFinished(() => receiver.stop());
  const started = receiver.start().then(
    () => 'open',
    (error: unknown) => String(error),
  );
  return { slack, receiver, started, answer: () => held.resolve() };
}

/** Counts the sockets after others, which were opened later, are open. */
async function socketsBesideOthers(slack: LocalSlack): Promise<number> {
  const later = connectionFor(socketSettings(slack));
  await later.start();
  await later.stop();
  await slack.workspace.until(({ socketConnections }) => socketConnections === 0);
  return slack.workspace.socketConnections;
}

test('a socket that was given up because Slack held its address is not opened when Slack answers at last', async () => {
  const { slack, started, answer } = await receiverWithoutAddress(1);
  expect(await started).toMatch(/did not say hello/);
  answer();
  expect(await socketsBesideOthers(slack)).toBe(0);
});

test('a stop ends the sockets that are being opened, at once', async () => {
  const { slack, receiver, started, answer } = await receiverWithoutAddress();
  await slack.workspace.until(({ calls }) => calls.length === 2);
  await receiver.stop();
  expect(await started).toMatch(/closed before it was open/);
  answer();
  expect(await socketsBesideOthers(slack)).toBe(0);
});
