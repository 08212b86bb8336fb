import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import { expect, onTestFinished, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { portOf } from './http-support.ts';
import { buttonBlock, section, slackForTest } from './support.ts';

/** A tutorial app that knows nothing of this project: it posts a button and reports who clicked. */
function tenLines(app: App): void {
  app.event('app_mention', async ({ event, say }) => {
    await say({ text: 'Shall I?', thread_ts: event.ts, blocks: [section('Shall I?'), buttonBlock('yes')] });
  });
  app.action('yes', async ({ ack, body, respond }) => {
    await ack();
    await respond({ text: `Yes, says <@${body.user.id}>`, replace_original: true });
  });
}

async function overSocketMode(): Promise<LocalSlack> {
  const slack = await slackForTest();
  const { botToken: token, appToken, apiUrl: slackApiUrl } = slack;
  const app = new App({
    token,
    appToken,
    socketMode: true,
    clientOptions: { slackApiUrl },
    logLevel: LogLevel.ERROR,
  });
  tenLines(app);
  await app.start();
  onTestFinished(async () => {
    await app.stop();
  });
  return slack;
}

async function overHttp(): Promise<LocalSlack> {
  const slack = await slackForTest({ app: { socketMode: false } });
  const { botToken: token, signingSecret, apiUrl: slackApiUrl } = slack;
  const receiver = new HTTPReceiver({ signingSecret, logLevel: LogLevel.ERROR });
  const app = new App({ token, receiver, clientOptions: { slackApiUrl }, logLevel: LogLevel.ERROR });
  tenLines(app);
  const server = await receiver.start(0);
  onTestFinished(async () => {
    await app.stop();
  });
  await slack.workspace.changeRequestUrl(`http://127.0.0.1:${portOf(server)}/slack/events`);
  return slack;
}

test.each([
  ['Socket Mode', overSocketMode],
  ['signed HTTP', overHttp],
])('an independent Bolt app of ten lines works over %s', async (_way, start) => {
  const { workspace } = await start();
  const asked = workspace
    .as(CAST.requester)
    .send(CHANNELS.general, `<@${workspace.state.app.botUserId}> ship it`);
  const card = await workspace.until(() => workspace.messagesIn(CHANNELS.general, asked.ts)[1]);

  expect(await workspace.as(CAST.alice).click(card, 'yes')).toMatchObject({ kind: 'acknowledged' });
  await workspace.until(() => card.text === `Yes, says <@${CAST.alice}>`);
  expect(workspace.messagesIn(CHANNELS.general, asked.ts)).toHaveLength(2);
});
