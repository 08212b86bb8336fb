import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlackOptions } from '../../../playground/slack/start-local-slack.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import {
  buttonBlock,
  call,
  connected,
  lastPayload,
  overflowBlock,
  parsed,
  postCard,
  section,
} from './support.ts';

const { general, releases } = CHANNELS;
const plain = (text: string) => ({ type: 'plain_text', text });
const confirm = {
  title: plain('Withdraw?'),
  text: plain('Nobody can approve it then.'),
  confirm: plain('Yes'),
  deny: plain('No'),
};

describe('a click', () => {
  test('is the block_actions Slack builds', async () => {
    const { slack, workspace, client } = await connected();
    const root = workspace.as(CAST.requester).send(releases, 'root');
    await call(slack, 'chat.postMessage', {
      channel: releases,
      thread_ts: root.ts,
      text: 'card',
      blocks: [buttonBlock('go', 'v1')],
    });
    const card = workspace.messagesIn(releases, root.ts)[1];
    const ts = card?.ts ?? '';
    await workspace.as(CAST.alice).click({ channel: releases, ts }, 'go');
    const payload = lastPayload(client);
    expect(payload).toMatchObject({
      type: 'block_actions',
      user: { id: CAST.alice, username: 'alice', team_id: 'T0LOCAL001' },
      api_app_id: workspace.state.app.id,
      team: { id: 'T0LOCAL001', domain: 'corner-shop' },
      container: {
        type: 'message',
        message_ts: ts,
        channel_id: releases,
        is_ephemeral: false,
        thread_ts: root.ts,
      },
      channel: { id: releases, name: 'privategroup' },
      message: { ts, text: 'card', bot_id: workspace.state.app.botId, thread_ts: root.ts },
      state: { values: {} },
      actions: [{ type: 'button', action_id: 'go', block_id: 'choices', value: 'v1', text: { text: 'go' } }],
    });
    expect(payload).toHaveProperty('trigger_id');
    expect(payload).toHaveProperty('response_url');
    expect((payload.actions as JsonObject[])[0]?.action_ts).toMatch(/^\d{10}\.\d{6}$/);
  });

  test('chooses an option that is there', async () => {
    const { slack, workspace, client } = await connected();
    const options = ['red', 'blue'].map((value) => ({ text: { type: 'plain_text', text: value }, value }));
    const card = await postCard(slack, [
      {
        type: 'actions',
        block_id: 'colors',
        elements: [{ type: 'static_select', action_id: 'color', options }],
      },
    ]);
    await workspace.as(CAST.alice).click(card, 'color', { value: 'blue' });
    expect(lastPayload(client)).toMatchObject({
      actions: [{ type: 'static_select', selected_option: { value: 'blue' } }],
      state: { values: { colors: { color: { type: 'static_select', selected_option: { value: 'blue' } } } } },
    });
    await expect(workspace.as(CAST.alice).click(card, 'color', { value: 'green' })).rejects.toThrow(
      'no option green',
    );
  });

  test('in an overflow menu sends the chosen option and its confirmation, but no state', async () => {
    const { slack, workspace, client } = await connected();
    const card = await postCard(slack, [overflowBlock('more', ['edit', 'withdraw'], { confirm })]);
    await workspace.as(CAST.alice).choose(card, 'more', 'withdraw');
    const payload = lastPayload(client);
    expect(payload).toMatchObject({ type: 'block_actions', state: { values: {} } });
    expect(payload.actions).toEqual([
      {
        type: 'overflow',
        action_id: 'more',
        block_id: 'menu',
        selected_option: { text: { type: 'plain_text', text: 'withdraw' }, value: 'withdraw' },
        confirm,
        action_ts: expect.stringMatching(/^\d{10}\.\d{6}$/),
      },
    ]);
  });

  test('in an overflow menu needs an option that is shown, unless it is a stale or forged one by force', async () => {
    const { slack, workspace, client } = await connected();
    const card = await postCard(slack, [overflowBlock('more', ['edit', 'withdraw'])]);
    await call(slack, 'chat.update', {
      channel: general,
      ts: card.ts,
      text: 'done',
      blocks: [overflowBlock('more', ['details'])],
    });
    const alice = workspace.as(CAST.alice);
    await expect(alice.choose(card, 'more', 'edit')).rejects.toThrow(
      'Nobody can click the option edit of more here now: what is shown offers more (details).',
    );
    await expect(alice.click(card, 'more')).rejects.toThrow('the option undefined of more');
    await alice.choose(card, 'more', 'edit', { force: true });
    expect(lastPayload(client)).toMatchObject({ actions: [{ selected_option: { value: 'edit' } }] });
    await alice.choose(card, 'more', 'erase', { force: true });
    expect(lastPayload(client)).toMatchObject({
      actions: [{ type: 'overflow', block_id: 'menu', selected_option: { value: 'erase' } }],
    });
  });

  test('finds one of two equal overflow menus by its option', async () => {
    const { slack, workspace, client } = await connected();
    const card = await postCard(slack, [
      overflowBlock('more', ['edit 1'], {}, 'one'),
      overflowBlock('more', ['edit 2'], {}, 'two'),
    ]);
    await workspace.as(CAST.alice).choose(card, 'more', 'edit 2');
    expect(lastPayload(client)).toMatchObject({ actions: [{ block_id: 'two' }] });
  });

  test('is refused when the button is gone, unless it is a stale one by force', async () => {
    const { slack, workspace, client } = await connected();
    const card = await postCard(slack, [buttonBlock('go', 'old')]);
    await call(slack, 'chat.update', {
      channel: general,
      ts: card.ts,
      text: 'done',
      blocks: [section('done')],
    });
    const alice = workspace.as(CAST.alice);
    await expect(alice.click(card, 'go')).rejects.toThrow('offers nothing');
    await alice.click(card, 'go', { force: true });
    expect(lastPayload(client)).toMatchObject({
      message: { text: 'done' },
      actions: [{ action_id: 'go', value: 'old' }],
    });
    await alice.click(card, 'never-there', { force: true, value: 'forged' });
    expect(lastPayload(client)).toMatchObject({ actions: [{ action_id: 'never-there', value: 'forged' }] });
  });

  test('is refused on a deleted message, and on one the person cannot see', async () => {
    const { slack, workspace } = await connected();
    const secret = await postCard(slack, [buttonBlock('go')], releases);
    await expect(workspace.as(CAST.guest).click(secret, 'go')).rejects.toThrow('cannot see #releases');
    await call(slack, 'chat.delete', { channel: releases, ts: secret.ts });
    await expect(workspace.as(CAST.alice).click(secret, 'go')).rejects.toThrow('may have been deleted');
  });

  test('must select one of two equal actions', async () => {
    const { slack, workspace, client } = await connected();
    const card = await postCard(slack, [buttonBlock('go', 'a', 'one'), buttonBlock('go', 'b', 'two')]);
    await expect(workspace.as(CAST.alice).click(card, 'go')).rejects.toThrow('say which');
    await workspace.as(CAST.alice).click(card, 'go', { value: 'b' });
    expect(lastPayload(client)).toMatchObject({ actions: [{ block_id: 'two', value: 'b' }] });
  });

  test('on an ephemeral message is for its viewer only and carries no message', async () => {
    const { slack, workspace, client } = await connected();
    await call(slack, 'chat.postEphemeral', {
      channel: general,
      user: CAST.alice,
      text: 'psst',
      blocks: [buttonBlock('go')],
    });
    const [psst] = workspace.ephemeralsFor(CAST.alice);
    const target = { channel: general, ts: psst?.ts ?? '' };
    await expect(workspace.as(CAST.bruno).click(target, 'go')).rejects.toThrow('does not see');
    await workspace.as(CAST.alice).click(target, 'go');
    expect(lastPayload(client)).toMatchObject({ container: { is_ephemeral: true } });
    expect(lastPayload(client)).not.toHaveProperty('message');
  });
});

describe('a response_url', () => {
  async function clicked(options: LocalSlackOptions = {}) {
    const around = await connected(options);
    const card = await postCard(around.slack, [buttonBlock('go')]);
    await around.workspace.as(CAST.alice).click(card, 'go');
    const url = String(lastPayload(around.client).response_url);
    const respond = async (body: JsonObject) => {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      return [response.status, (await parsed(response)).error];
    };
    return { ...around, card, respond };
  }

  test('writes to the person, to the channel, over the message, and deletes it', async () => {
    const { workspace, card, respond } = await clicked();
    await respond({ text: 'for you' });
    await respond({ text: 'for all', response_type: 'in_channel' });
    await respond({ text: 'instead', replace_original: true, blocks: [section('instead')] });
    expect(workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'for you' }]);
    expect(workspace.messagesIn(general)).toMatchObject([
      { text: 'instead' },
      { text: 'for all', subtype: 'bot_message' },
    ]);
    await respond({ delete_original: true });
    expect(card.deleted).toBe(true);
  });

  test('goes to the channel unless it names the thread, also after a click in a thread', async () => {
    const { slack, workspace, client } = await connected();
    const root = workspace.as(CAST.requester).send(general, 'root');
    const blocks = [buttonBlock('go', 'v1')];
    await call(slack, 'chat.postMessage', { channel: general, thread_ts: root.ts, text: 'card', blocks });
    const ts = workspace.messagesIn(general, root.ts)[1]?.ts ?? '';
    await workspace.as(CAST.alice).click({ channel: general, ts }, 'go');
    for (const thread of [{}, { thread_ts: root.ts }])
      await fetch(String(lastPayload(client).response_url), {
        method: 'POST',
        body: JSON.stringify({ text: 'for you', ...thread }),
      });
    expect(workspace.ephemeralsFor(CAST.alice).map(({ thread_ts }) => thread_ts)).toEqual([
      undefined,
      root.ts,
    ]);
  });

  test('takes five responses, and refused ones do not count', async () => {
    const { respond } = await clicked();
    expect(await respond({})).toEqual([400, 'no_text']);
    expect(await respond({ blocks: [{ type: 'banner' }] })).toEqual([400, 'invalid_blocks']);
    for (let use = 0; use < 5; use += 1) expect(await respond({ text: 'again' })).toEqual([200, undefined]);
    expect(await respond({ text: 'again' })).toEqual([404, 'used_url']);
  });

  test('expires', async () => {
    const { respond } = await clicked({ timings: { responseUrlLife: -1 } });
    expect(await respond({ text: 'late' })).toEqual([404, 'expired_url']);
  });
});
