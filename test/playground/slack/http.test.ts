import { createHmac } from 'node:crypto';
import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack, LocalSlackOptions } from '../../../playground/slack/start-local-slack.ts';
import { bareServer, type HeardRequest, portOf } from './http-support.ts';
import { buttonBlock, call, modal, postCard, section, slackForTest } from './support.ts';

const { general } = CHANNELS;
const logLevel = LogLevel.ERROR;

/** A workspace that posts to a bare server. */
async function overHttp(options: LocalSlackOptions = {}) {
  const app = await bareServer();
  const slack = await slackForTest({
    ...options,
    app: { commands: ['/ask'], ...options.app, socketMode: false, requestUrl: app.url },
  });
  return { app, slack, workspace: slack.workspace };
}

function isSigned(slack: LocalSlack, { headers, body }: HeardRequest): boolean {
  const timestamp = String(headers['x-slack-request-timestamp']);
  const hash = createHmac('sha256', slack.signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  return headers['x-slack-signature'] === `v0=${hash}`;
}

describe('over HTTP', () => {
  test('an event is signed JSON, and is acknowledged with any 2xx', async () => {
    const { app, slack, workspace } = await overHttp();
    app.answer = () => ({ status: 204 });
    workspace.as(CAST.alice).send(general, 'häh?');
    await workspace.until(() => workspace.deliveries[0]?.outcome.kind === 'acknowledged');
    const [request] = app.heard;
    expect(request?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      type: 'event_callback',
      event: { text: 'häh?' },
    });
    expect(app.heard.map((each) => isSigned(slack, each))).toEqual([true]);
  });

  test('a click, a submission, a command and a search are signed forms, and their answers are done', async () => {
    const { app, slack, workspace } = await overHttp();
    const select = { type: 'external_select', action_id: 'find', min_query_length: 0 };
    const menu = { ...section('which?'), accessory: select };
    const card = await postCard(slack, [buttonBlock('approve'), menu]);
    const option = { text: { type: 'plain_text', text: 'Seven' }, value: '7' };
    app.answer = ({ body }) => {
      const form = new URLSearchParams(body);
      if (form.get('command') === '/ask') return { status: 200, body: 'working on it' };
      const type = JSON.parse(form.get('payload') ?? '{}').type;
      if (type === 'block_suggestion') return { status: 200, body: JSON.stringify({ options: [option] }) };
      const errors = { response_action: 'errors', errors: { reason: 'Say more' } };
      return { status: 200, body: type === 'view_submission' ? JSON.stringify(errors) : '' };
    };
    const alice = workspace.as(CAST.alice);
    expect(await alice.click(card, 'approve')).toMatchObject({ kind: 'acknowledged', payload: {} });
    expect(await alice.search(card, 'find', 'sev')).toEqual([option]);
    expect(await alice.command('/ask', 'now & then')).toMatchObject({ kind: 'acknowledged' });
    expect(workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'working on it' }]);
    const trigger_id = new URLSearchParams(app.heard.at(-1)?.body).get('trigger_id');
    await call(slack, 'views.open', { trigger_id, view: modal() });
    const view = workspace.modalOf(CAST.alice);
    expect(await alice.submit(view?.id ?? '', { reason: 'no' })).toMatchObject({ kind: 'errors' });
    const forms = app.heard.filter(({ headers }) => headers['content-type'] !== 'application/json');
    expect(forms).toHaveLength(4);
    expect(forms.every((each) => isSigned(slack, each))).toBe(true);
    expect(new URLSearchParams(forms[2]?.body).get('text')).toBe('now & then');
    await expect(alice.search(card, 'approve', '')).rejects.toThrow('no menu approve');
  });

  test('an event is delivered again after an error, with the reason and the number of the try', async () => {
    const { app, workspace } = await overHttp({ timings: { eventRetries: [0, 0] } });
    app.answer = () => ({ status: app.heard.length < 3 ? 500 : 200 });
    workspace.as(CAST.alice).send(general, 'hello');
    await workspace.until(() => workspace.deliveries[0]?.outcome.kind === 'acknowledged');
    const retries = app.heard.map(({ headers }) => [
      headers['x-slack-retry-num'],
      headers['x-slack-retry-reason'],
    ]);
    expect(retries).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_error'],
    ]);
    expect(new Set(app.heard.map(({ body }) => JSON.parse(body).event_id)).size).toBe(1);
  });

  test('an event without an answer in time, or without a listener, is delivered again and then given up', async () => {
    const { app, workspace } = await overHttp({ timings: { acknowledgement: 50, eventRetries: [0] } });
    app.answer = () => 'never';
    workspace.as(CAST.alice).send(general, 'hello');
    await workspace.until(() => workspace.deliveries[0]?.outcome.kind === 'failed');
    expect(app.heard.map(({ headers }) => headers['x-slack-retry-reason'])).toEqual([
      undefined,
      'http_timeout',
    ]);
    workspace.state.app.requestUrl = 'http://127.0.0.1:9/';
    workspace.as(CAST.alice).send(general, 'hello?');
    await workspace.until(() => workspace.deliveries[1]?.outcome.kind === 'failed');
    expect(workspace.deliveries[1]?.attempts[1]?.request?.headers['x-slack-retry-reason']).toBe(
      'connection_failed',
    );
  });

  test('an app can ask for no retry', async () => {
    const { app, workspace } = await overHttp({ timings: { eventRetries: [0] } });
    app.answer = () => ({ status: 500, headers: { 'x-slack-no-retry': '1' } });
    workspace.as(CAST.alice).send(general, 'hello');
    await workspace.until(() => workspace.deliveries[0]?.outcome.kind === 'failed');
    expect(app.heard).toHaveLength(1);
  });

  test('an interaction is never delivered again', async () => {
    const { app, slack, workspace } = await overHttp({ app: { events: [] } });
    const card = await postCard(slack, [buttonBlock('approve')]);
    app.answer = () => ({ status: 500 });
    expect(await workspace.as(CAST.alice).click(card, 'approve')).toEqual({
      kind: 'failed',
      reason: 'http_error',
    });
    expect(app.heard).toHaveLength(1);
  });

  test('there is no Socket Mode', async () => {
    const { slack } = await overHttp();
    expect(await call(slack, 'apps.connections.open', {}, slack.appToken)).toMatchObject({
      error: 'socket_mode_not_enabled',
    });
  });

  test('a request URL is taken only if it returns the challenge', async () => {
    const { app, slack, workspace } = await overHttp();
    const before = workspace.state.app.requestUrl;
    await expect(workspace.changeRequestUrl(`${app.url}/other`)).rejects.toThrow('must return the challenge');
    expect(workspace.state.app.requestUrl).toBe(before);
    app.answer = ({ body }) => ({ status: 200, body: JSON.parse(body).challenge });
    await workspace.changeRequestUrl(`${app.url}/other`);
    expect(workspace.state.app.requestUrl).toBe(`${app.url}/other`);
    expect(app.heard.every((each) => isSigned(slack, each))).toBe(true);
  });
});

/** An ordinary Bolt app of ten lines, that knows nothing of this workspace. */
async function startBolt(slack: LocalSlack, listen: (app: App) => void): Promise<string> {
  const receiver = new HTTPReceiver({ signingSecret: slack.signingSecret, logLevel });
  const clientOptions = { slackApiUrl: slack.apiUrl };
  const app = new App({ token: slack.botToken, receiver, clientOptions, logLevel });
  app.error(async () => {});
  listen(app);
  const server = await receiver.start(0);
  onTestFinished(async () => {
    await receiver.stop();
  });
  return `http://127.0.0.1:${portOf(server)}/slack/events`;
}

describe('a Bolt app over HTTP', () => {
  test('answers a mention and settles the card on a click', async () => {
    const slack = await slackForTest({ app: { socketMode: false } });
    const { workspace } = slack;
    const url = await startBolt(slack, (app) => {
      app.event('app_mention', async ({ event, say }) => {
        await say({ text: 'May I?', thread_ts: event.ts, blocks: [buttonBlock('approve')] });
      });
      app.action('approve', async ({ ack, respond }) => {
        await ack();
        await respond({ replace_original: true, text: 'approved', blocks: [section('approved')] });
      });
    });
    await workspace.changeRequestUrl(url);
    const { ts } = workspace.as(CAST.requester).send(general, `<@${workspace.state.app.botUserId}> deploy`);
    const card = await workspace.until(() => workspace.messagesIn(general, ts)[1]);
    expect(await workspace.as(CAST.alice).click(card, 'approve')).toMatchObject({ kind: 'acknowledged' });
    await workspace.until(() => card.text === 'approved');
  });

  test('rejects unsigned, wrongly signed, changed and old requests, and answers the certificate check', async () => {
    const slack = await slackForTest({ app: { socketMode: false } });
    const { workspace } = slack;
    const said: string[] = [];
    const url = await startBolt(slack, (app) => {
      app.message(async ({ message }) => {
        if (message.subtype === undefined) said.push(message.text ?? '');
      });
    });
    await workspace.changeRequestUrl(url);
    workspace.as(CAST.alice).send(general, 'really me');
    const delivery = await workspace.until(
      () => workspace.deliveries[0]?.outcome.kind === 'acknowledged' && workspace.deliveries[0],
    );
    const status = async (forgery: Parameters<typeof workspace.sendForged>[0]) =>
      (await workspace.sendForged(forgery, delivery)).status;
    expect([
      await status('unsigned'),
      await status('wrong-secret'),
      await status('tampered'),
      await status('stale'),
    ]).toEqual([401, 401, 401, 401]);
    expect(said).toEqual(['really me']);
    expect((await workspace.sendSslCheck()).status).toBe(200);
    // Bolt itself lets a replay and a date in the future pass; an app has to see to those.
    expect([await status('future'), (await workspace.replay(delivery)).status]).toEqual([200, 200]);
    await workspace.until(() => said.length === 3);
  });
});
