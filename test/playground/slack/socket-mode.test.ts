import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import { BareClient, buttonBlock, call, slackForTest } from './support.ts';

const { general } = CHANNELS;

test('a connection is greeted with the number of connections and the app', async () => {
  const slack = await slackForTest();
  const first = await BareClient.connect(slack);
  const second = await BareClient.connect(slack);
  const connection_info = { app_id: slack.workspace.state.app.id };
  expect(first.hello).toMatchObject({ type: 'hello', num_connections: 1, connection_info });
  expect(second.hello).toMatchObject({ type: 'hello', num_connections: 2, connection_info });
});

test('a ticket opens one connection', async () => {
  const slack = await slackForTest();
  const { url } = await call(slack, 'apps.connections.open', {}, slack.appToken);
  const open = () =>
    new Promise((resolve) => {
      const socket = new WebSocket(String(url));
      socket.on('open', () => {
        socket.close();
        resolve('open');
      });
      socket.on('error', (error) => resolve(error.message));
    });
  expect(await open()).toBe('open');
  expect(await open()).toContain('403');
});

test('one connection too many is turned away', async () => {
  const slack = await slackForTest();
  for (let count = 0; count < LIMITS.socketConnections; count += 1) await BareClient.connect(slack);
  const turnedAway = await BareClient.connect(slack);
  expect(turnedAway.hello).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' });
});

test('an event goes to one of the connections and its acknowledgement is kept', async () => {
  const slack = await slackForTest();
  const clients = [await BareClient.connect(slack), await BareClient.connect(slack)];
  const alice = slack.workspace.as(CAST.alice);
  for (const text of ['one', 'two', 'three', 'four']) alice.send(general, text);
  await slack.workspace.until(({ deliveries }) =>
    deliveries.every(({ outcome }) => outcome.kind === 'acknowledged'),
  );
  expect(slack.workspace.deliveries).toHaveLength(4);
  expect(clients.map(({ envelopes }) => envelopes.length)).toEqual([2, 2]);
  expect(clients[0]?.envelopes[0]).toMatchObject({
    type: 'events_api',
    accepts_response_payload: false,
    retry_attempt: 0,
    payload: { type: 'event_callback', api_app_id: slack.workspace.state.app.id },
  });
});

test('an unacknowledged event is delivered again with the same event id, then given up', async () => {
  const slack = await slackForTest({ timings: { acknowledgement: 30, eventRetries: [0, 0] } });
  const client = await BareClient.connect(slack);
  client.answer = () => undefined;
  slack.workspace.as(CAST.alice).send(general, 'hello');
  const [delivery] = slack.workspace.deliveries;
  await slack.workspace.until(() => delivery?.outcome.kind === 'failed');
  expect(delivery?.outcome).toEqual({ kind: 'failed', reason: 'timeout' });
  expect(client.envelopes.map(({ retry_attempt, retry_reason }) => [retry_attempt, retry_reason])).toEqual([
    [0, ''],
    [1, 'timeout'],
    [2, 'timeout'],
  ]);
  expect(new Set(client.envelopes.map(({ payload }) => payload.event_id)).size).toBe(1);
  expect(new Set(client.envelopes.map(({ envelope_id }) => envelope_id)).size).toBe(3);
});

test('an event acknowledged at the second attempt is not delivered again', async () => {
  const slack = await slackForTest({ timings: { acknowledgement: 30, eventRetries: [0, 0] } });
  const client = await BareClient.connect(slack);
  client.answer = ({ retry_attempt }) => (retry_attempt === 0 ? undefined : {});
  slack.workspace.as(CAST.alice).send(general, 'hello');
  await slack.workspace.until(({ deliveries }) => deliveries[0]?.outcome.kind === 'acknowledged');
  expect(slack.workspace.deliveries[0]?.attempts).toHaveLength(2);
});

test('an unacknowledged interaction fails for the person and is not delivered again', async () => {
  const slack = await slackForTest({ timings: { acknowledgement: 30 } });
  const client = await BareClient.connect(slack);
  client.answer = () => undefined;
  await call(slack, 'chat.postMessage', { channel: general, text: 'card', blocks: [buttonBlock('go')] });
  const [card] = slack.workspace.messagesIn(general);
  const outcome = await slack.workspace.as(CAST.alice).click({ channel: general, ts: card?.ts ?? '' }, 'go');
  expect(outcome).toEqual({ kind: 'failed', reason: 'timeout' });
  const clicks = client.envelopes.filter(({ type }) => type === 'interactive');
  expect(clicks).toMatchObject([{ accepts_response_payload: true }]);
});

test('an interaction without a connection fails immediately', async () => {
  const slack = await slackForTest({ app: { commands: ['/x'] } });
  expect(await slack.workspace.as(CAST.alice).command('/x')).toEqual({
    kind: 'failed',
    reason: 'no_connection',
  });
});

test('after refresh_requested a connection gets nothing new; after a warning it still does', async () => {
  const slack = await slackForTest();
  const old = await BareClient.connect(slack);
  slack.workspace.disconnectSockets('warning');
  slack.workspace.as(CAST.alice).send(general, 'one');
  await slack.workspace.until(({ deliveries }) => deliveries[0]?.outcome.kind === 'acknowledged');
  slack.workspace.disconnectSockets('refresh_requested');
  const fresh = await BareClient.connect(slack);
  slack.workspace.as(CAST.alice).send(general, 'two');
  await slack.workspace.until(({ deliveries }) => deliveries[1]?.outcome.kind === 'acknowledged');
  expect(old.disconnects.map(({ reason }) => reason)).toEqual(['warning', 'refresh_requested']);
  expect([old.envelopes.length, fresh.envelopes.length]).toEqual([1, 1]);
});

test('a connection that does not leave after refresh_requested is closed', async () => {
  const slack = await slackForTest({ timings: { socketDrain: 10 } });
  await BareClient.connect(slack);
  slack.workspace.disconnectSockets('refresh_requested');
  await slack.workspace.until(() => slack.workspace.socketConnections === 0);
  expect(slack.workspace.socketConnections).toBe(0);
});

test('Slack pings, and answers pings', async () => {
  const slack = await slackForTest({ timings: { socketPing: 10 } });
  const { socket } = await BareClient.connect(slack);
  await new Promise((resolve) => socket.once('ping', resolve));
  const pong = new Promise((resolve) => socket.once('pong', (data) => resolve(String(data))));
  socket.ping('are you there');
  expect(await pong).toBe('are you there');
});

test('a wait that times out reports the latest activity', async () => {
  const slack = await slackForTest();
  slack.workspace.as(CAST.alice).send(general, 'a message in the report');
  await call(slack, 'chat.shout');
  const waiting = slack.workspace.until(() => undefined, { timeoutMs: 10, what: 'a miracle' });
  await expect(waiting).rejects.toThrow(/a miracle[\s\S]*a message in the report[\s\S]*unknown_method/);
});
