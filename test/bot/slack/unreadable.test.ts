import { expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { signRequest } from '../../../playground/slack/http/sign-request.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { connectionFor, httpSettings, serverForTest, slackForTest } from './support.ts';

const EVENT = { type: 'event_callback', team_id: 'T0LOCAL001', event_id: 'Ev1' };
const CLICK = { type: 'block_actions', team: { id: 'T0LOCAL001' }, user: { id: CAST.alice } };
const VIEW = { type: 'view_submission', team: { id: 'T0LOCAL001' }, user: { id: CAST.alice } };
const form = (payload: unknown) => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

const unreadable: [string, string][] = [
  ['an event callback without an event', JSON.stringify(EVENT)],
  ['an event that is null', JSON.stringify({ ...EVENT, event: null })],
  ['an event without a type', JSON.stringify({ ...EVENT, event: { channel: CHANNELS.general } })],
  [
    'an event whose channel is a number',
    JSON.stringify({ ...EVENT, event: { type: 'message', channel: 7 } }),
  ],
  ['no JSON', '{"type":'],
  ['a click without actions', form(CLICK)],
  ['a click whose list of actions is empty', form({ ...CLICK, actions: [] })],
  [
    'a click by nobody',
    form({ ...CLICK, user: undefined, actions: [{ type: 'button', action_id: 'approve' }] }),
  ],
  ['a submission without a view', form(VIEW)],
  ['a view that is a text', form({ ...VIEW, view: 'view' })],
  ['a payload without a type', form({ user: { id: CAST.alice } })],
  ['a payload that is a list', form([])],
];

test.each(nonEmpty(unreadable))(
  '%s is refused for good, so that Slack does not send it again',
  async (_, body) => {
    const slack = await slackForTest({ app: { socketMode: false, commands: ['/ask'] } });
    const connection = connectionFor(httpSettings(slack));
    connection.app.event('message', async () => {});
    connection.app.action('approve', async ({ ack }) => ack());
    connection.app.view(/.*/, async ({ ack }) => ack());
    const { url } = await serverForTest({ parts: connection.part === undefined ? [] : [connection.part] });
    await connection.start();
    const address = `${url}/slack/events`;
    const isForm = body.startsWith('payload=');
    const headers = { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' };
    const signed = signRequest({ url: address, headers, body }, slack.signingSecret);
    const answer = await fetch(address, { method: 'POST', headers: signed.headers, body });
    expect([answer.status, answer.headers.get('x-slack-no-retry')]).toEqual([400, '1']);
  },
);
