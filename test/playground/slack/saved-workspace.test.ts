import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { saveState } from '../../../playground/slack/state/save-state.ts';
import type { SavedWorkspace } from '../../../playground/slack/state/saved-workspace.ts';
import {
  BareClient,
  buttonBlock,
  call,
  modal,
  postCard,
  postText,
  section,
  slackForTest,
} from './support.ts';

const { general, releases } = CHANNELS;

/** Saves a workspace and reads it back. */
function savedBy(slack: LocalSlack): SavedWorkspace {
  return JSON.parse(JSON.stringify(saveState(slack.workspace.state)));
}

/** A workspace in which something of every kind has happened. */
async function livedIn(): Promise<LocalSlack> {
  const slack = await slackForTest({ app: { name: 'Countersign', commands: ['/ask'] } });
  const { workspace } = slack;
  const client = await BareClient.connect(slack);
  const remi = workspace.as(CAST.requester);
  const said = remi.send(general, `<@${workspace.state.app.botUserId}> deploy it`);
  remi.edit(said, 'deploy it now');
  workspace.as(CAST.alice).react(said, 'eyes');
  remi.delete(remi.send(releases, 'never mind'));
  workspace.as(CAST.bruno).join(CHANNELS.partners);
  remi.send(releases, 'the plan', { files: [{ name: 'plan.txt', bytes: Buffer.from('step 1') }] });

  const thread = { channel: general, thread_ts: said.ts };
  const recipient = { recipient_user_id: CAST.alice, recipient_team_id: 'T0LOCAL001' };
  const chunks = [
    { type: 'markdown_text', text: 'Working' },
    { type: 'task_update', id: 'one', title: 'Build', status: 'in_progress', details: 'half way' },
    { type: 'blocks', blocks: [section('so far')] },
  ];
  await call(slack, 'chat.startStream', { ...thread, ...recipient, chunks });
  const metadata = { event_type: 'card', event_payload: { id: 7 } };
  await postText(slack, { ...thread, metadata });
  const place = { channel_id: general, thread_ts: said.ts };
  await call(slack, 'agents.sessions.setStatus', { ...place, status: 'processing', title: 'A deployment' });
  await call(slack, 'assistant.threads.setStatus', { ...place, status: 'is building' });
  await call(slack, 'chat.postEphemeral', { channel: general, user: CAST.alice, text: 'psst' });
  await call(slack, 'views.publish', {
    user_id: CAST.alice,
    view: { type: 'home', blocks: [section('hi')] },
  });
  await call(slack, 'assistant.threads.setSuggestedPrompts', {
    channel_id: workspace.directMessages(CAST.alice),
    prompts: [{ title: 'Refund', message: 'Refund order 7' }],
  });
  await workspace.as(CAST.alice).command('/ask');
  const { trigger_id } = client.envelopes.at(-1)?.payload ?? {};
  await call(slack, 'views.open', { trigger_id, view: modal({ private_metadata: 'kept' }) });
  return slack;
}

describe('a workspace that was saved and loaded', () => {
  test('is the same in everything', async () => {
    const saved = savedBy(await livedIn());
    expect(saved.messages).toHaveLength(5);
    expect(saved.files).toMatchObject([
      { name: 'plan.txt', bytes: Buffer.from('step 1').toString('base64') },
    ]);
    expect(
      [saved.ephemerals, saved.sessions, Object.keys(saved.threadStatus)].map(({ length }) => length),
    ).toEqual([1, 1, 1]);
    expect(saved.views.map(({ type }) => type)).toEqual(['home', 'modal']);
    expect(savedBy(await slackForTest({ saved }))).toEqual(saved);
  });

  test('continues: the app reconnects with its token, and open views still work', async () => {
    const before = await livedIn();
    const after = await slackForTest({ saved: savedBy(before) });
    expect(after).toMatchObject({ botToken: before.botToken, appToken: before.appToken });
    const client = await BareClient.connect(after);
    client.answer = ({ payload }) =>
      payload.type === 'view_submission' ? { response_action: 'errors', errors: { reason: 'More.' } } : {};
    const viewId = after.workspace.modalOf(CAST.alice)?.id ?? '';
    expect(await after.workspace.as(CAST.alice).submit(viewId, { reason: 'so' })).toMatchObject({
      kind: 'errors',
    });
    const card = await postCard(after, [buttonBlock('go')]);
    expect(await after.workspace.as(CAST.alice).click(card, 'go')).toMatchObject({ kind: 'acknowledged' });
    expect(after.workspace.messagesIn(general)[0]?.history).toHaveLength(1);
  });

  test('lets the app continue an open stream', async () => {
    const before = await livedIn();
    const streaming = before.workspace.state.messages.find(({ stream }) => stream !== undefined);
    const after = await slackForTest({ saved: savedBy(before) });
    const chunks = [
      { type: 'task_update', id: 'one', title: 'Build', status: 'complete', details: ', done' },
    ];
    const { ok } = await call(after, 'chat.appendStream', { channel: general, ts: streaming?.ts, chunks });
    expect(ok).toBe(true);
    const parts = after.workspace.state.messages.find(({ stream }) => stream !== undefined)?.stream?.parts;
    expect(parts?.[1]).toMatchObject({ task: { status: 'complete', details: 'half way, done' } });
  });

  test('never gives a message an earlier time than one before, even on a clock that was put back', async () => {
    const saved = savedBy(await slackForTest());
    const nextYear = (Date.now() + 365 * 86_400_000) * 1_000;
    const { workspace } = await slackForTest({ saved: { ...saved, clock: nextYear } });
    const [seconds, rest] = workspace.as(CAST.alice).send(general, 'hi').ts.split('.');
    expect(Number(`${seconds}${rest}`)).toBe(nextYear + 1);
  });

  test('accepts a newly declared app, which keeps its identity', async () => {
    const before = await slackForTest({ app: { name: 'Countersign', commands: ['/old'] } });
    const after = await slackForTest({
      saved: savedBy(before),
      app: { name: 'Renamed', commands: ['/new'], homeTab: false },
    });
    const { app, users } = after.workspace.state;
    expect(app).toEqual({
      ...before.workspace.state.app,
      name: 'Renamed',
      commands: ['/new'],
      homeTab: false,
    });
    expect(users.get(app.botUserId)).toMatchObject({ name: 'Renamed', real_name: 'Renamed' });
  });

  test('is not affected by later changes', async () => {
    const slack = await slackForTest();
    const said = slack.workspace.as(CAST.alice).send(general, 'before');
    const saved = saveState(slack.workspace.state);
    slack.workspace.as(CAST.alice).edit(said, 'after');
    slack.workspace.as(CAST.alice).leave(general);
    expect(saved.messages[0]?.text).toBe('before');
    expect(saved.channels[0]?.members).toContain(CAST.alice);
  });
});

describe('a file that cannot be loaded', () => {
  test.each([
    ['is of a newer version', { version: 3 }, /version 3 .* reads up to 2: .* start over with --reset\.$/],
    ['is of no version', {}, /broken at version .* start over with --reset\.$/],
    ['is no workspace at all', 'hello', /broken at its top .* start over with --reset\.$/],
  ])('because it %s is told in one sentence', async (_why, saved, sentence) => {
    await expect(slackForTest({ saved })).rejects.toThrow(sentence);
  });

  test('because of a broken field names the field', async () => {
    const saved = savedBy(await slackForTest());
    const channels = saved.channels.map((channel, index) =>
      index === 1 ? { ...channel, kind: 'secret' } : channel,
    );
    await expect(slackForTest({ saved: { ...saved, channels } })).rejects.toThrow(
      /broken at channels\.1\.kind/,
    );
  });
});

test.each([1, 2])('a workspace saved by version %i is still read', async (version) => {
  const file = new URL(`fixtures/workspace.v${version}.json`, import.meta.url);
  const saved: Partial<SavedWorkspace> = JSON.parse(readFileSync(file, 'utf8'));
  const slack = await slackForTest({ saved });
  expect(savedBy(slack)).toEqual({ files: [], ...saved, version: 2 });
  expect(slack.workspace.messagesIn(general).map(({ text }) => text)).toEqual(['deploy it now']);
});
