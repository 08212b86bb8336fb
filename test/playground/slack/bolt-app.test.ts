import { App, type AppOptions, LogLevel, SocketModeReceiver } from '@slack/bolt';
import { expect, onTestFinished, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { buttonBlock, section, slackForTest } from './support.ts';

const logLevel = LogLevel.ERROR;

async function startApp(
  slack: LocalSlack,
  listen: (app: App) => void,
  options: AppOptions = {},
): Promise<void> {
  const clientOptions = { slackApiUrl: slack.apiUrl };
  const socket = options.receiver === undefined ? { socketMode: true, appToken: slack.appToken } : {};
  const app = new App({ token: slack.botToken, clientOptions, logLevel, ...socket, ...options });
  listen(app);
  await app.start();
  onTestFinished(async () => {
    await app.stop();
  });
}

/** Bolt waits five seconds before it connects again; this receiver waits less. */
function quickReceiver(slack: LocalSlack): SocketModeReceiver {
  const installerOptions = { clientOptions: { slackApiUrl: slack.apiUrl } };
  return new SocketModeReceiver({
    appToken: slack.appToken,
    logLevel,
    clientPingTimeout: 200,
    installerOptions,
  });
}

test('a Bolt app answers a mention in its thread and settles the card on a click', async () => {
  const slack = await slackForTest();
  const { workspace } = slack;
  await startApp(slack, (app) => {
    app.event('app_mention', async ({ event, say }) => {
      await say({ text: 'May I?', thread_ts: event.ts, blocks: [section('May I?'), buttonBlock('approve')] });
    });
    app.action('approve', async ({ ack, body, client }) => {
      await ack();
      if (body.type !== 'block_actions' || body.message === undefined || body.channel === undefined) return;
      const text = `Approved by <@${body.user.id}>`;
      await client.chat.update({
        channel: body.channel.id,
        ts: body.message.ts,
        text,
        blocks: [section(text)],
      });
    });
  });
  const remi = workspace.as(CAST.requester);

  const question = remi.send(CHANNELS.general, `<@${workspace.state.app.botUserId}> deploy it`);
  const card = await workspace.until(() => workspace.messagesIn(CHANNELS.general, question.ts)[1]);
  expect(card).toMatchObject({ text: 'May I?', thread_ts: question.ts, bot_id: workspace.state.app.botId });

  expect(await workspace.as(CAST.alice).click(card, 'approve')).toMatchObject({ kind: 'acknowledged' });
  await workspace.until(() => card.text === `Approved by <@${CAST.alice}>`);
  expect(card.history).toHaveLength(1);
  await expect(workspace.as(CAST.bruno).click(card, 'approve')).rejects.toThrow(
    'Nobody can click approve here now',
  );
});

test('a Bolt app opens a modal, refuses an answer and takes the next one', async () => {
  const slack = await slackForTest({ app: { commands: ['/ask'] } });
  const { workspace } = slack;
  await startApp(slack, (app) => {
    app.command('/ask', async ({ ack, command, client }) => {
      const plain = (text: string) => ({ type: 'plain_text', text }) as const;
      const element = { type: 'plain_text_input', action_id: 'text' } as const;
      const input = { type: 'input', block_id: 'reason', label: plain('Reason'), element };
      await client.views.open({
        trigger_id: command.trigger_id,
        view: {
          type: 'modal',
          callback_id: 'ask',
          title: plain('Why?'),
          submit: plain('Send'),
          blocks: [input],
        },
      });
      await ack();
    });
    app.view('ask', async ({ ack, view }) => {
      const given = view.state.values.reason?.text?.value;
      await (given === 'because'
        ? ack({ response_action: 'errors', errors: { reason: 'Say more' } })
        : ack());
    });
  });
  const remi = workspace.as(CAST.requester);

  await remi.command('/ask', 'now');
  const view = workspace.modalOf(CAST.requester);
  const viewId = view?.id ?? '';
  expect(await remi.submit(viewId, { reason: 'because' })).toEqual({
    kind: 'errors',
    errors: { reason: 'Say more' },
  });
  expect(await remi.submit(viewId, { reason: 'it is tested' })).toEqual({ kind: 'closed' });
  expect(workspace.modalOf(CAST.requester)).toBeUndefined();
});

test('a Bolt app that is asked to refresh reconnects and gets the missed events', async () => {
  const slack = await slackForTest({ timings: { eventRetries: [50, 50, 50, 50, 50, 50, 50, 50, 50, 50] } });
  const { workspace } = slack;
  const heard: string[] = [];
  const listen = (app: App) => {
    app.message(async ({ message }) => {
      if (message.subtype === undefined) heard.push(message.text ?? '');
    });
  };
  await startApp(slack, listen, { receiver: quickReceiver(slack) });

  workspace.disconnectSockets('refresh_requested');
  await workspace.until(() => workspace.socketConnections === 0);
  workspace.as(CAST.requester).send(CHANNELS.general, 'anyone there?');
  await workspace.until(() => workspace.deliveries[0]?.outcome.kind === 'acknowledged');
  expect(heard).toEqual(['anyone there?']);
  expect(workspace.deliveries[0]?.attempts[0]?.connectionId).toBeUndefined();
  expect(workspace.calls.filter(({ method }) => method === 'apps.connections.open')).toHaveLength(2);
});

test('a Bolt app waits for the time of a rate limit', async () => {
  const slack = await slackForTest();
  slack.workspace.rateLimit('chat.postMessage', { calls: 1, retryAfterSeconds: 1 });
  await startApp(slack, (app) => {
    app.message(async ({ say }) => {
      await say('heard');
    });
  });
  slack.workspace.as(CAST.requester).send(CHANNELS.general, 'hello');
  await slack.workspace.until((workspace) => workspace.messagesIn(CHANNELS.general)[1]?.text === 'heard');
  const posts = slack.workspace.calls.filter(({ method }) => method === 'chat.postMessage');
  expect(posts.map(({ status }) => status)).toEqual([429, 200]);
  expect(posts[0]?.response).toEqual({ ok: false, error: 'ratelimited' });
});

test('respond replaces the message that was clicked', async () => {
  const slack = await slackForTest();
  const { workspace } = slack;
  await startApp(slack, (app) => {
    app.message('card', async ({ say }) => {
      await say({ text: 'pick', blocks: [buttonBlock('pick')] });
    });
    app.action('pick', async ({ ack, respond }) => {
      await ack();
      await respond({ text: 'only you see this' });
      await respond({ replace_original: true, text: 'picked', blocks: [section('picked')] });
    });
  });
  workspace.as(CAST.requester).send(CHANNELS.releases, 'card please');
  const card = await workspace.until(() => workspace.messagesIn(CHANNELS.releases)[1]);
  await workspace.as(CAST.bruno).click(card, 'pick');
  await workspace.until(() => card.text === 'picked');
  expect(workspace.ephemeralsFor(CAST.bruno).map(({ text }) => text)).toEqual(['only you see this']);
});

test('a Bolt agent streams a reply, is stopped, and updates its session', async () => {
  const slack = await slackForTest({ app: { commands: ['/approvals'] } });
  const { workspace } = slack;
  await startApp(slack, (app) => {
    app.event('app_mention', async ({ event, client, context }) => {
      const place = { channel: event.channel, thread_ts: event.ts };
      const title = 'A long answer';
      await client.agents.sessions.setStatus({
        channel_id: event.channel,
        thread_ts: event.ts,
        status: 'processing',
        title,
      });
      await client.chat.startStream({
        ...place,
        recipient_user_id: event.user ?? '',
        recipient_team_id: context.teamId ?? '',
        markdown_text: 'Thinking',
      });
    });
    app.event('agent_session_stopped', async ({ event, client }) => {
      await client.agents.sessions.setStatus({
        channel_id: event.channel,
        thread_ts: event.thread_ts,
        status: 'active',
      });
      await client.chat.postMessage({ channel: event.channel, thread_ts: event.thread_ts, text: 'Stopped.' });
    });
    app.event('app_home_opened', async ({ event, client }) => {
      await client.views.publish({ user_id: event.user, view: { type: 'home', blocks: [section('Hello')] } });
    });
    app.command('/approvals', async ({ ack, respond }) => {
      await ack({ response_type: 'ephemeral', text: 'One moment' });
      await respond({ text: 'Nothing waits.' });
    });
  });
  const remi = workspace.as(CAST.requester);

  const { ts } = remi.send(CHANNELS.general, `<@${workspace.state.app.botUserId}> think`);
  const reply = await workspace.until(() => workspace.messagesIn(CHANNELS.general, ts)[1]);
  expect(workspace.sessionOf(CHANNELS.general, ts)).toMatchObject({
    status: 'processing',
    title: 'A long answer',
  });
  remi.stop({ channel: CHANNELS.general, threadTs: ts });
  await workspace.until(() => workspace.messagesIn(CHANNELS.general, ts)[2]?.text === 'Stopped.');
  expect(reply).toMatchObject({ text: 'Thinking', stream: { state: 'completed' } });
  expect(workspace.sessionOf(CHANNELS.general, ts)?.status).toBe('active');

  remi.openHome();
  await workspace.until(() => workspace.homeOf(CAST.requester));
  await remi.command('/approvals');
  await workspace.until(() => workspace.ephemeralsFor(CAST.requester).length === 2);
  expect(workspace.ephemeralsFor(CAST.requester).map(({ text }) => text)).toEqual([
    'One moment',
    'Nothing waits.',
  ]);
  expect(workspace.usedEvents()).toEqual([
    'agent_session_stopped',
    'app_home_opened',
    'app_mention',
    'message.channels',
  ]);
});
