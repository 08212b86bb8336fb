import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlackOptions } from '../../../playground/slack/start-local-slack.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { buttonBlock, call, connected, type Envelope, lastPayload, modal } from './support.ts';

const { general } = CHANNELS;

async function openModal(options: LocalSlackOptions = {}, view: JsonObject = modal()) {
  const around = await connected({ ...options, app: { commands: ['/ask'] } });
  await around.workspace.as(CAST.alice).command('/ask');
  const trigger_id = lastPayload(around.client).trigger_id;
  const opened = await call(around.slack, 'views.open', { trigger_id, view });
  return { ...around, trigger_id, opened, viewId: around.workspace.modalOf(CAST.alice)?.id ?? '' };
}

const onSubmission =
  (answer: JsonObject) =>
  ({ payload }: Envelope) =>
    payload.type === 'view_submission' ? answer : {};

describe('a trigger', () => {
  test('opens one view, for the person who caused it', async () => {
    const { slack, workspace, trigger_id, opened } = await openModal();
    expect(opened).toMatchObject({
      ok: true,
      view: { type: 'modal', callback_id: 'ask', state: { values: {} } },
    });
    expect(workspace.modalOf(CAST.bruno)).toBeUndefined();
    expect(await call(slack, 'views.open', { trigger_id, view: modal() })).toMatchObject({
      error: 'exchanged_trigger_id',
    });
  });

  test('expires', async () => {
    const { opened, workspace } = await openModal({ timings: { triggerLife: -1 } });
    expect(opened).toEqual({ ok: false, error: 'expired_trigger_id' });
    expect(workspace.modalOf(CAST.alice)).toBeUndefined();
  });

  test('is not used up by a view that is refused', async () => {
    const { slack, trigger_id, opened } = await openModal({}, modal({ title: undefined }));
    expect(opened).toMatchObject({ error: 'invalid_arguments' });
    expect(await call(slack, 'views.open', { trigger_id, view: modal() })).toMatchObject({ ok: true });
  });
});

describe('a modal', () => {
  test('is submitted with its state and closes', async () => {
    const { workspace, client, viewId } = await openModal({}, modal({ private_metadata: 'card 7' }));
    expect(await workspace.as(CAST.alice).submit(viewId, { reason: 'tested' })).toEqual({ kind: 'closed' });
    expect(lastPayload(client)).toMatchObject({
      type: 'view_submission',
      user: { id: CAST.alice },
      view: {
        id: viewId,
        private_metadata: 'card 7',
        state: { values: { reason: { text: { type: 'plain_text_input', value: 'tested' } } } },
      },
    });
    expect(workspace.modalOf(CAST.alice)).toBeUndefined();
  });

  test('does not leave the client while a required field is empty or too long', async () => {
    const { workspace, client, viewId } = await openModal();
    const alice = workspace.as(CAST.alice);
    const before = client.envelopes.length;
    await expect(alice.submit(viewId)).rejects.toThrow('required field reason');
    await expect(alice.submit(viewId, { reason: 'x'.repeat(21) })).rejects.toThrow('0 to 20 characters');
    await expect(alice.submit(viewId, { raison: 'hm' })).rejects.toThrow('nothing to fill in called raison');
    await expect(workspace.as(CAST.bruno).submit(viewId, { reason: 'mine' })).rejects.toThrow(
      'has no modal in front',
    );
    expect(client.envelopes).toHaveLength(before);
  });

  test('stays open with the errors the app answers, or when the app does not answer', async () => {
    const { workspace, client, viewId } = await openModal({ timings: { acknowledgement: 50 } });
    const alice = workspace.as(CAST.alice);
    client.answer = onSubmission({ response_action: 'errors', errors: { reason: 'No' } });
    expect(await alice.submit(viewId, { reason: 'a' })).toEqual({ kind: 'errors', errors: { reason: 'No' } });
    client.answer = onSubmission({ response_action: 'errors', errors: { elsewhere: 'No' } });
    expect(await alice.submit(viewId, { reason: 'a' })).toMatchObject({
      kind: 'failed',
      reason: 'invalid_response',
    });
    client.answer = () => undefined;
    expect(await alice.submit(viewId, { reason: 'a' })).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expect(workspace.modalOf(CAST.alice)?.id).toBe(viewId);
  });

  test('is updated, pushed upon, and cleared as the app answers', async () => {
    const { workspace, client, viewId } = await openModal();
    const alice = workspace.as(CAST.alice);
    client.answer = onSubmission({ response_action: 'update', view: modal({ callback_id: 'second' }) });
    expect(await alice.submit(viewId, { reason: 'a' })).toMatchObject({
      kind: 'updated',
      view: { callback_id: 'second' },
    });
    client.answer = onSubmission({ response_action: 'push', view: modal({ callback_id: 'third' }) });
    expect(await alice.submit(viewId, { reason: 'a' })).toMatchObject({
      kind: 'pushed',
      view: { previous_view_id: viewId },
    });
    const top = workspace.modalOf(CAST.alice)?.id ?? '';
    client.answer = onSubmission({ response_action: 'update', view: modal({ title: undefined }) });
    expect(await alice.submit(top, { reason: 'a' })).toMatchObject({
      kind: 'failed',
      reason: 'invalid_response',
    });
    client.answer = onSubmission({ response_action: 'clear' });
    expect(await alice.submit(top, { reason: 'a' })).toEqual({ kind: 'cleared' });
    expect(workspace.modalOf(CAST.alice)).toBeUndefined();
  });

  test('tells the app when it is closed, if the app asked', async () => {
    const { workspace, client, viewId } = await openModal({}, modal({ notify_on_close: true }));
    await workspace.as(CAST.alice).close(viewId);
    expect(lastPayload(client)).toMatchObject({
      type: 'view_closed',
      is_cleared: false,
      view: { id: viewId },
    });
    const quiet = await openModal();
    const before = quiet.client.envelopes.length;
    await quiet.workspace.as(CAST.alice).close(quiet.viewId);
    expect(quiet.client.envelopes).toHaveLength(before);
  });

  test('is updated by the app while it is open, if the hash fits', async () => {
    const { slack, workspace, viewId } = await openModal();
    const hash = workspace.modalOf(CAST.alice)?.hash;
    const given = { view_id: viewId, hash, view: modal({ callback_id: 'later' }) };
    expect(await call(slack, 'views.update', given)).toMatchObject({
      ok: true,
      view: { callback_id: 'later' },
    });
    expect(await call(slack, 'views.update', given)).toMatchObject({ error: 'hash_conflict' });
    await workspace.as(CAST.alice).close(viewId);
    expect(await call(slack, 'views.update', { view_id: viewId, view: modal() })).toMatchObject({
      error: 'not_found',
    });
  });

  test('takes clicks of its own, which carry the view', async () => {
    const { workspace, client, viewId } = await openModal({}, modal({ blocks: [buttonBlock('more')] }));
    await workspace.as(CAST.alice).click({ viewId }, 'more');
    expect(lastPayload(client)).toMatchObject({
      container: { type: 'view', view_id: viewId },
      view: { id: viewId },
    });
    expect(lastPayload(client)).not.toHaveProperty('response_url');
  });
});

describe('a slash command', () => {
  test('has a channel and a user, and its acknowledgement is shown to that person', async () => {
    const { workspace, client } = await connected({ app: { commands: ['/ask'] } });
    client.answer = () => ({ text: 'Working on it' });
    await workspace.as(CAST.alice).command('/ask', 'for it', { channel: general });
    expect(client.envelopes[0]).toMatchObject({
      type: 'slash_commands',
      payload: {
        command: '/ask',
        text: 'for it',
        user_id: CAST.alice,
        channel_id: general,
        channel_name: 'general',
      },
    });
    expect(workspace.ephemeralsFor(CAST.alice)).toMatchObject([{ text: 'Working on it', channel: general }]);
  });

  test('that the app does not have is refused', async () => {
    const { workspace } = await connected();
    await expect(workspace.as(CAST.alice).command('/nope')).rejects.toThrow('/nope is not a valid command');
  });
});
