import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { buttonBlock, call, connected, modal, postCard, section } from '../slack/support.ts';
import { act, appForTest, ClientForTest, pageForTest, post } from './support.ts';

const { general, releases, withoutBot, archived } = CHANNELS;

async function cardIn(slack: LocalSlack, channel: string = general) {
  const card = await postCard(slack, [section('May I?'), buttonBlock('approve', 'request 7')], channel);
  return { target: { channel, ts: card.ts }, actionId: 'approve', blockId: 'choices', value: 'request 7' };
}

describe('a click', () => {
  test('reaches the app once, and the notice it leads to is seen by that person only', async () => {
    const { server, slack } = await pageForTest();
    const clicks: string[] = [];
    await appForTest(slack, (app) => {
      app.action('approve', async ({ ack, body, action, respond }) => {
        clicks.push(`${body.user.id} ${'value' in action ? action.value : ''}`);
        await ack();
        await respond({ text: 'You may not sign this.', replace_original: false });
      });
    });
    const click = await cardIn(slack);
    const alice = await ClientForTest.open(server, CAST.alice);
    const bruno = await ClientForTest.open(server, CAST.bruno);
    expect(await act(server, CAST.alice, 'click', click)).toEqual({ ok: true });
    await alice.until(() => alice.texts().includes('You may not sign this.'));
    slack.workspace.as(CAST.requester).send(general, 'later');
    await bruno.until(() => bruno.texts().includes('later'));
    expect(clicks).toEqual([`${CAST.alice} request 7`]);
    expect(bruno.raw).not.toContain('You may not sign this.');
  });

  test("that the app does not answer shows Slack's error", async () => {
    const { server, slack } = await pageForTest({ slack: { app: { name: 'Countersign' } } });
    expect(await act(server, CAST.alice, 'click', await cardIn(slack))).toEqual({
      ok: false,
      error: 'Countersign did not answer in time. Try again.',
    });
  });

  test('on a changed message is refused with a message for the person', async () => {
    const { server, slack } = await pageForTest();
    const click = await cardIn(slack);
    const { target } = click;
    await call(slack, 'chat.update', { ...target, text: 'Approved', blocks: [section('Approved')] });
    expect(await act(server, CAST.alice, 'click', click)).toEqual({
      ok: false,
      error: 'This message has changed. Check it and try again.',
    });
    await call(slack, 'chat.delete', target);
    expect(await act(server, CAST.alice, 'click', click)).toEqual({
      ok: false,
      error: 'This message no longer exists.',
    });
  });

  test('on an invisible message never reaches the app', async () => {
    const { server, slack } = await pageForTest();
    const answer = await act(server, CAST.guest, 'click', await cardIn(slack, releases));
    expect(answer).toEqual({ ok: false, error: "This conversation doesn't exist, or you can't see it." });
    expect(slack.workspace.deliveries.filter(({ type }) => type === 'interactive')).toEqual([]);
  });

  test('in an external menu accepts an option from a search', async () => {
    const { slack, client } = await connected();
    const { server } = await pageForTest({ page: { slack } });
    const option = { text: { type: 'plain_text', text: 'Order 7' }, value: '7' };
    client.answer = ({ payload }) => (payload.type === 'block_suggestion' ? { options: [option] } : {});
    const menu = { type: 'external_select', action_id: 'order', min_query_length: 1 };
    const card = await postCard(slack, [{ type: 'actions', block_id: 'orders', elements: [menu] }]);
    const target = { channel: general, ts: card.ts };
    const choose = { target, actionId: 'order', blockId: 'orders', value: '7' };
    expect(await act(server, CAST.alice, 'click', choose)).toEqual({
      ok: false,
      error: 'Choose one of the options.',
    });
    expect(await act(server, CAST.alice, 'search', { target, actionId: 'order', typed: '7' })).toEqual({
      ok: true,
      options: [option],
    });
    expect(await act(server, CAST.alice, 'click', choose)).toEqual({ ok: true });
    expect(client.envelopes.at(-1)?.payload).toMatchObject({
      actions: [{ action_id: 'order', selected_option: option }],
      state: { values: { orders: { order: { selected_option: option } } } },
    });
  });
});

describe('a submission', () => {
  async function withModal() {
    const page = await pageForTest({ slack: { app: { commands: ['/ask'] } } });
    const submitted: unknown[] = [];
    await appForTest(page.slack, (app) => {
      app.command('/ask', async ({ ack, command, client }) => {
        await ack();
        await client.apiCall('views.open', { trigger_id: command.trigger_id, view: modal() });
      });
      app.view('ask', async ({ ack, view }) => {
        const given = view.state.values.reason?.text?.value;
        submitted.push(given);
        if (given === 'because') await ack({ response_action: 'errors', errors: { reason: 'Say more.' } });
        else await ack();
      });
    });
    const client = await ClientForTest.open(page.server, CAST.alice);
    await act(page.server, CAST.alice, 'command', { command: '/ask', text: '', channel: general });
    await client.until(() => client.get('modal').length === 1);
    const viewId = client.get('modal')[0]?.view.id ?? '';
    const submit = (reason?: string) =>
      act(page.server, CAST.alice, 'submit', { viewId, values: reason === undefined ? {} : { reason } });
    return { ...page, client, viewId, submit, submitted };
  }

  test("shows the app's field errors, and closes without any", async () => {
    const { client, submit, submitted } = await withModal();
    expect(await submit('because')).toEqual({ ok: true, errors: { reason: 'Say more.' } });
    await client.until(() => client.get('modal')[0]?.view.errors.reason === 'Say more.');
    expect(await submit('it is tested')).toEqual({ ok: true });
    await client.until(() => client.get('modal').length === 0);
    expect(submitted).toEqual(['because', 'it is tested']);
  });

  test.each([
    ['is missing', undefined, 'Please complete this required field.'],
    ['is emptied', '', 'Please complete this required field.'],
    ['is too long', 'x'.repeat(21), 'Enter 0 to 20 characters; there are 21.'],
  ])('of which a field %s does not reach the app', async (_what, reason, problem) => {
    const { submit, submitted } = await withModal();
    expect(await submit(reason)).toEqual({ ok: true, errors: { reason: problem } });
    expect(submitted).toEqual([]);
  });

  test('tells the app that a field is empty when the person emptied it', async () => {
    const { slack, client } = await connected({ app: { commands: ['/ask'] } });
    const { server } = await pageForTest({ page: { slack } });
    await act(server, CAST.alice, 'command', { command: '/ask', text: '', channel: general });
    const { trigger_id } = client.envelopes.at(-1)?.payload ?? {};
    const label = { type: 'plain_text', text: 'Copy to' };
    const element = { type: 'email_text_input', action_id: 'copy', initial_value: 'ada@local.test' };
    const blocks = [{ type: 'input', block_id: 'copies', optional: true, label, element }];
    await call(slack, 'views.open', { trigger_id, view: modal({ blocks }) });
    const viewId = slack.workspace.modalOf(CAST.alice)?.id ?? '';
    expect(await act(server, CAST.alice, 'submit', { viewId, values: { copies: '' } })).toEqual({ ok: true });
    expect(client.envelopes.at(-1)?.payload).toMatchObject({
      view: { state: { values: { copies: { copy: { value: null } } } } },
    });
  });

  test('of a closed modal is refused with a message for the person', async () => {
    const { server, viewId, submit } = await withModal();
    expect(await act(server, CAST.alice, 'close', { viewId })).toEqual({ ok: true });
    expect(await submit('late')).toEqual({ ok: false, error: 'This is no longer open.' });
  });
});

describe('a person', () => {
  test('writes, replies, edits, reacts and deletes', async () => {
    const { server } = await pageForTest();
    const alice = await ClientForTest.open(server, CAST.alice);
    const said = await act(server, CAST.alice, 'send', { channel: general, text: 'helo' });
    const ts = said.ok ? (said.ts ?? '') : '';
    const message = { channel: general, ts };
    expect(await act(server, CAST.alice, 'edit', { ...message, text: 'hello' })).toEqual({ ok: true });
    expect(await act(server, CAST.bruno, 'react', { ...message, name: '+1' })).toEqual({ ok: true });
    await act(server, CAST.bruno, 'send', { channel: general, text: 'hi', threadTs: ts });
    const shown = () => alice.get('message').find((each) => each.ts === ts);
    await alice.until(() => shown()?.reactions.length === 1 && alice.get('thread').length === 1);
    expect(shown()).toMatchObject({
      user: CAST.alice,
      text: 'hello',
      isEdited: true,
      reactions: [{ name: '+1', users: [CAST.bruno] }],
    });
    expect(await act(server, CAST.bruno, 'unreact', { ...message, name: '+1' })).toEqual({ ok: true });
    expect(await act(server, CAST.bruno, 'delete', message)).toMatchObject({ ok: false });
    expect(await act(server, CAST.alice, 'delete', message)).toEqual({ ok: true });
    // It has a reply, so its place in the channel stays.
    await alice.until(() => shown()?.text === 'This message was deleted.');
  });

  test('joins and leaves visible channels', async () => {
    const { server, workspace } = await pageForTest();
    const place = { channel: withoutBot };
    expect(await act(server, CAST.guest, 'join', place)).toMatchObject({ ok: false });
    expect(await act(server, CAST.bruno, 'join', place)).toEqual({ ok: true });
    expect(await act(server, CAST.bruno, 'send', { ...place, text: 'hi' })).toMatchObject({ ok: true });
    expect(await act(server, CAST.bruno, 'leave', place)).toEqual({ ok: true });
    expect(await act(server, CAST.bruno, 'send', { ...place, text: 'hi' })).toEqual({
      ok: false,
      error: 'bruno is not in #random and cannot write there.',
    });
    const own = { channel: workspace.directMessages(CAST.bruno) };
    expect(await act(server, CAST.bruno, 'leave', own)).toEqual({
      ok: false,
      error: 'Nobody can leave their own direct messages.',
    });
  });

  test('stops a working agent, and the app gets the event', async () => {
    const { server, slack, workspace } = await pageForTest();
    const { ts } = workspace.as(CAST.alice).send(general, 'deploy it');
    const place = { channel_id: general, thread_ts: ts };
    await call(slack, 'assistant.threads.setStatus', { ...place, status: 'is thinking' });
    expect(await act(server, CAST.alice, 'stop', { channel: general, threadTs: ts })).toEqual({ ok: true });
    expect(workspace.usedEvents()).toContain('agent_session_stopped');
  });

  test('opens the Home tab, and the app gets the event', async () => {
    const { server, workspace } = await pageForTest();
    expect(await act(server, CAST.alice, 'openHome', { tab: 'home' })).toEqual({ ok: true });
    expect(workspace.usedEvents()).toEqual(['app_home_opened']);
  });

  test.each([
    ['an archived channel', archived, '#old-news is archived; nobody can write there.'],
    ['a channel of others', releases, "This conversation doesn't exist, or you can't see it."],
    ['nowhere', 'C0NOWHERE1', "This conversation doesn't exist, or you can't see it."],
  ])('who may not write to %s is told so in one sentence', async (_where, channel, error) => {
    const { server } = await pageForTest();
    const userId = channel === archived ? CAST.requester : CAST.guest;
    expect(await act(server, userId, 'send', { channel, text: 'hi' })).toEqual({ ok: false, error });
  });
});

describe('an invalid request', () => {
  const say = JSON.stringify({ channel: general, text: 'hi' });

  test.each([
    ['a body that is not JSON', `/client/${CAST.alice}/send`, '{', 400],
    ['an invalid body', `/client/${CAST.alice}/send`, '{"channel":7}', 400],
    ['an unknown field', `/client/${CAST.alice}/send`, '{"channel":"C","text":"","force":true}', 400],
    ['a verb there is not', `/client/${CAST.alice}/dance`, '{}', 404],
    ['a verb of every object', `/client/${CAST.alice}/toString`, '{}', 404],
    ['an unknown person', '/client/U0NOBODY01/send', say, 404],
    [
      'an oversized body',
      `/client/${CAST.alice}/send`,
      JSON.stringify({ text: 'x'.repeat(16_000_000) }),
      413,
    ],
    ['another button of the playground', '/playground/reset', '{}', 404],
  ])('%s is refused', async (_what, path, body, status) => {
    const { server, state } = await pageForTest();
    const response = await post(server, path, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ ok: false, error: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(state.messages).toEqual([]);
  });

  test('nobody can act as the app or open its client', async () => {
    const { server, state } = await pageForTest();
    const { botUserId } = state.app;
    expect((await post(server, `/client/${botUserId}/send`, say)).status).toBe(404);
    expect((await fetch(`${server.url}/client/${botUserId}/events`)).status).toBe(404);
    expect((await fetch(`${server.url}/client/${CAST.alice}/send`)).status).toBe(405);
  });
});
